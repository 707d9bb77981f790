#include "symbols/perf_map/jit_ranges.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <queue>

namespace vesta {
namespace {

constexpr size_t kMaxNameBytes = 4096;
constexpr size_t kMinWaiting = 65536;

// A hexadecimal number and the spaces after it, taken off the front.
std::optional<uint64_t> take_hex(std::string_view& text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end == text.data() + text.size() || (*end != ' ' && *end != '\t')) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return value;
}

}  // namespace

size_t JitRanges::add_lines(std::string_view text) {
  size_t taken = 0;
  for (size_t end = 0; (end = text.find('\n', taken)) != std::string_view::npos; taken = end + 1) {
    add_line(text.substr(taken, end - taken));
  }
  return taken;
}

void JitRanges::add_line(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  if (line.empty()) return;
  const auto start = take_hex(line);
  const auto bytes = start ? take_hex(line) : std::nullopt;
  if (!bytes || *bytes == 0 || line.empty() ||
      *bytes > std::numeric_limits<uint64_t>::max() - *start) {
    ++bad_lines_;
    return;
  }
  const std::string_view name = line.substr(0, kMaxNameBytes);
  // What lines replace is not known before settle(), so some may wait; in proportion to what is
  // there already, so that the whole file costs no more than a few sorts.
  const size_t may_wait = std::min(max_ranges_, std::max(kMinWaiting, ranges_.size() / 2));
  if (added_.size() >= may_wait || names_.size() + name.size() > 2 * max_name_bytes_) {
    settle();
    if (names_.size() + name.size() > max_name_bytes_) {
      ++dropped_;
      return;
    }
  }
  if (ranges_.size() >= max_ranges_) {
    ++dropped_;
    return;
  }
  added_.push_back({*start, *start + *bytes, static_cast<uint32_t>(names_.size()),
                    static_cast<uint32_t>(name.size())});
  names_.append(name);
}

void JitRanges::settle() {
  if (added_.empty()) return;
  // Later lines lie later in `all`, so that the position says who wins.
  std::vector<Range> all = std::move(ranges_);
  all.insert(all.end(), added_.begin(), added_.end());
  std::vector<Range>().swap(added_);
  std::vector<uint32_t> order(all.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return all[a].start != all[b].start ? all[a].start < all[b].start : a < b;
  });

  std::vector<Range> settled;
  settled.reserve(all.size());
  std::priority_queue<uint32_t> open;  // ranges that began at or before `at`, the latest on top
  size_t next = 0;
  uint64_t at = 0;
  uint32_t last = UINT32_MAX;
  while (next < order.size() || !open.empty()) {
    if (open.empty()) at = all[order[next]].start;
    for (; next < order.size() && all[order[next]].start <= at; ++next) open.push(order[next]);
    while (!open.empty() && all[open.top()].end <= at) open.pop();
    if (open.empty()) continue;
    const uint32_t top = open.top();
    uint64_t end = all[top].end;
    if (next < order.size()) end = std::min(end, all[order[next]].start);
    if (last == top && settled.back().end == at) {
      settled.back().end = end;
    } else {
      settled.push_back({at, end, all[top].name_offset, all[top].name_bytes});
      last = top;
    }
    at = end;
  }
  if (settled.size() > max_ranges_) {
    dropped_ += settled.size() - max_ranges_;
    settled.resize(max_ranges_);
  }
  ranges_ = std::move(settled);
  compact_names();
}

void JitRanges::compact_names() {
  size_t used = 0;
  for (const Range& range : ranges_) used += range.name_bytes;
  if (names_.size() <= 2 * used && names_.size() <= max_name_bytes_) return;
  std::string names;
  names.reserve(used);
  for (Range& range : ranges_) {
    const auto offset = static_cast<uint32_t>(names.size());
    names.append(names_, range.name_offset, range.name_bytes);
    range.name_offset = offset;
  }
  names_ = std::move(names);
}

void JitRanges::clear() {
  std::vector<Range>().swap(ranges_);
  std::vector<Range>().swap(added_);
  std::string().swap(names_);
  bad_lines_ = 0;
  dropped_ = 0;
}

std::optional<std::string_view> JitRanges::lookup(uint64_t address) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                [](uint64_t a, const Range& range) { return a < range.start; });
  if (after == ranges_.begin()) return std::nullopt;
  const Range& range = *--after;
  if (address >= range.end) return std::nullopt;
  return std::string_view(names_).substr(range.name_offset, range.name_bytes);
}

}  // namespace vesta
