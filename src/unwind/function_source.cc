#include "unwind/function_source.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "unwind/cfi_program.h"

namespace vesta {
namespace {

// Linkers align functions to 16 bytes: a shorter gap holds padding, which never runs. Leaving it to
// the row before saves one row in ten.
constexpr uint64_t kMinGap = 16;

// mov %rbx, %rsp: how the function begins that contexts of makecontext() return to, when what they
// were made for has ended. Nothing calls it, so it has no caller; its information does not say so.
constexpr std::string_view kContextEndCode("\x48\x89\xdc", 3);
constexpr std::string_view kMakesContexts("\0makecontext\0", 13);
constexpr uint32_t kMaxContextEndBytes = 128;
// Of a C library. Others are not worth to be looked through.
constexpr size_t kMaxNameBytes = 1 << 20;

bool makes_contexts(const ElfFile& file) {
  for (const std::string_view name : {".dynstr", ".strtab"}) {
    const ElfSection* section = file.section(name);
    if (section != nullptr && section->bytes.size() <= kMaxNameBytes &&
        section->bytes.find(kMakesContexts) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

class CfiSource final : public FunctionSource {
 public:
  CfiSource(CfiEntries& entries, const ElfFile& file)
      : entries_(entries), file_(file), makes_contexts_(makes_contexts(file)) {
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
    const Fde& fde = entries_.fdes[index];
    return entries_.cies[fde.cie].is_signal_frame || is_context_end(fde);
  }
  void write_rows(size_t index, uint64_t first, uint64_t limit, RowWriter& rows) const override {
    if (is_context_end(entries_.fdes[index])) {
      vesta_unwind_rule rule{};
      rule.cfa_kind = VESTA_CFA_END;
      return rows.add(first, rule);
    }
    write_function_rows(entries_, entries_.fdes[index], first, limit, rows);
  }

 private:
  bool is_context_end(const Fde& fde) const {
    return makes_contexts_ && fde.size <= kMaxContextEndBytes &&
           file_.bytes_at(fde.start).starts_with(kContextEndCode);
  }

  const CfiEntries& entries_;
  const ElfFile& file_;
  const bool makes_contexts_;
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

std::unique_ptr<FunctionSource> cfi_source(CfiEntries& entries, const ElfFile& file) {
  return std::make_unique<CfiSource>(entries, file);
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
    if (functions.begins_early(index)) rows.begin_early();
    functions.write_rows(index, start, limit, rows);
    covered = limit;
  }
  rows.add(covered, {});
}

}  // namespace vesta
