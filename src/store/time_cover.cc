#include "store/time_cover.h"

#include <algorithm>
#include <utility>

#include "profile/profile.h"

namespace vesta {
namespace {

// To a list of ranges in order. REQUIRES: it starts where the last one does or later
void append(std::vector<TimeRange>& ranges, TimeRange range) {
  if (!ranges.empty() && range.start_ns <= ranges.back().end_ns) {
    ranges.back().end_ns = std::max(ranges.back().end_ns, range.end_ns);
  } else {
    ranges.push_back(range);
  }
}

}  // namespace

void TimeCover::add(TimeRange range) {
  if (range.empty()) return;
  if (ranges_.empty() || range.start_ns >= ranges_.back().start_ns) return append(ranges_, range);
  // Those that it touches become one.
  const auto from = std::ranges::lower_bound(ranges_, range.start_ns, {}, &TimeRange::end_ns);
  auto to = from;
  for (; to != ranges_.end() && to->start_ns <= range.end_ns; ++to) {
    range.start_ns = std::min(range.start_ns, to->start_ns);
    range.end_ns = std::max(range.end_ns, to->end_ns);
  }
  ranges_.insert(ranges_.erase(from, to), range);
}

void TimeCover::add(const TimeCover& other) {
  if (ranges_.empty()) {
    ranges_ = other.ranges_;
    return;
  }
  // Most instances of a service cover what others cover.
  size_t at = 0;
  const bool is_known = std::ranges::all_of(other.ranges_, [&](const TimeRange& range) {
    while (at < ranges_.size() && ranges_[at].end_ns < range.end_ns) ++at;
    return at < ranges_.size() && ranges_[at].start_ns <= range.start_ns;
  });
  if (is_known) return;
  std::vector<TimeRange> all;
  all.reserve(ranges_.size() + other.ranges_.size());
  auto mine = ranges_.begin();
  auto theirs = other.ranges_.begin();
  while (mine != ranges_.end() || theirs != other.ranges_.end()) {
    const bool take_mine = theirs == other.ranges_.end() ||
                           (mine != ranges_.end() && mine->start_ns <= theirs->start_ns);
    append(all, take_mine ? *mine++ : *theirs++);
  }
  ranges_ = std::move(all);
}

int64_t TimeCover::length_ns() const {
  int64_t sum = 0;
  for (const TimeRange& range : ranges_)
    sum = saturating_add(sum, saturating_subtract(range.end_ns, range.start_ns));
  return sum;
}

int64_t CoverCursor::length_in(TimeRange part) {
  while (at_ < ranges_.size() && ranges_[at_].end_ns <= part.start_ns) ++at_;
  int64_t sum = 0;
  for (size_t at = at_; at < ranges_.size() && ranges_[at].start_ns < part.end_ns; ++at) {
    sum = saturating_add(sum, saturating_subtract(std::min(ranges_[at].end_ns, part.end_ns),
                                                  std::max(ranges_[at].start_ns, part.start_ns)));
  }
  return sum;
}

}  // namespace vesta
