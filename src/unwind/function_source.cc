#include "unwind/function_source.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "unwind/cfi_program.h"

namespace vesta {
namespace {

// Linkers align functions to 16 bytes: a shorter gap holds padding, which never runs. Leaving it to
// the row before saves one row in ten.
constexpr uint64_t kMinGap = 16;

class CfiSource final : public FunctionSource {
 public:
  explicit CfiSource(CfiEntries& entries) : entries_(entries) {
    const auto by_start = [](const Fde& a, const Fde& b) { return a.start < b.start; };
    if (!std::is_sorted(entries.fdes.begin(), entries.fdes.end(), by_start)) {
      std::stable_sort(entries.fdes.begin(), entries.fdes.end(), by_start);
    }
  }

  size_t size() const override { return entries_.fdes.size(); }
  uint64_t start(size_t index) const override { return entries_.fdes[index].start; }
  uint64_t end(size_t index) const override {
    return entries_.fdes[index].start + entries_.fdes[index].size;
  }
  bool begins_early(size_t index) const override {
    return entries_.cies[entries_.fdes[index].cie].is_signal_frame;
  }
  void write_rows(size_t index, uint64_t first, uint64_t limit, RowWriter& rows) const override {
    write_function_rows(entries_, entries_.fdes[index], first, limit, rows);
  }

 private:
  const CfiEntries& entries_;
};

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();

// Where several sources stand in a pass by address.
class Merge {
 public:
  explicit Merge(std::span<const FunctionSource* const> sources)
      : sources_(sources), at_(sources.size()) {}

  uint64_t next_start(size_t source) const {
    return at_[source] < sources_[source]->size() ? sources_[source]->start(at_[source]) : kNever;
  }

  // The source whose next function comes first; of equals the one with most authority.
  size_t first_source() const {
    size_t best = 0;
    for (size_t source = 1; source < sources_.size(); ++source) {
      if (next_start(source) < next_start(best)) best = source;
    }
    return best;
  }

  // Where a function of `source` has to end for one of at least its authority.
  uint64_t limit_for(size_t source) const {
    uint64_t limit = kNever;
    for (size_t other = 0; other <= source; ++other) limit = std::min(limit, next_start(other));
    return limit;
  }

  size_t take(size_t source) { return at_[source]++; }

 private:
  std::span<const FunctionSource* const> sources_;
  std::vector<size_t> at_;
};

}  // namespace

std::unique_ptr<FunctionSource> cfi_source(CfiEntries& entries) {
  return std::make_unique<CfiSource>(entries);
}

void write_rows(std::span<const FunctionSource* const> sources, RowWriter& rows) {
  if (sources.empty()) return;
  Merge merge(sources);
  uint64_t covered = 0;
  while (true) {
    const size_t source = merge.first_source();
    const uint64_t start = merge.next_start(source);
    if (start == kNever) break;
    const FunctionSource& functions = *sources[source];
    const size_t index = merge.take(source);
    const uint64_t limit = std::min(functions.end(index), merge.limit_for(source));
    if (start < covered || limit <= start) continue;
    if (start - covered >= kMinGap) rows.add(covered, {});
    const uint64_t first = functions.begins_early(index) && start > covered ? start - 1 : start;
    functions.write_rows(index, first, limit, rows);
    covered = limit;
  }
  rows.add(covered, {});
}

}  // namespace vesta
