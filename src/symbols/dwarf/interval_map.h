// Nested or overlapping address intervals, flattened into a sorted list of starts that is searched
// in O(log n). Where intervals overlap, the one that starts later, or the deeper of two that start
// together, wins. Immutable once built.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

namespace vesta {

struct Interval {
  uint32_t start = 0;  // inclusive
  uint32_t end = 0;    // exclusive
  uint32_t value = 0;  // not 0, which means "nothing"
  uint32_t depth = 0;
};

class IntervalMap {
 public:
  static IntervalMap build(std::vector<Interval> intervals) {
    std::ranges::sort(intervals, [](const Interval& a, const Interval& b) {
      return std::tuple(a.start, a.depth, ~a.end, a.value) <
             std::tuple(b.start, b.depth, ~b.end, b.value);
    });
    IntervalMap map;
    map.segments_.reserve(intervals.size() * 2);
    std::vector<const Interval*> open;
    const auto close_until = [&](uint32_t address) {
      while (!open.empty() && open.back()->end <= address) {
        const uint32_t end = open.back()->end;
        open.pop_back();
        while (!open.empty() && open.back()->end <= end) open.pop_back();
        map.add(end, open.empty() ? 0 : open.back()->value);
      }
    };
    for (const Interval& interval : intervals) {
      if (interval.start >= interval.end) continue;
      close_until(interval.start);
      map.add(interval.start, interval.value);
      open.push_back(&interval);
    }
    close_until(~0U);
    map.segments_.shrink_to_fit();
    return map;
  }

  // 0 when nothing is there.
  uint32_t find(uint32_t address) const {
    const auto next = std::ranges::upper_bound(segments_, address, {}, &Segment::start);
    return next == segments_.begin() ? 0 : std::prev(next)->value;
  }

  size_t size() const { return segments_.size(); }
  size_t memory_bytes() const { return segments_.capacity() * sizeof(Segment); }

 private:
  struct Segment {
    uint32_t start;
    uint32_t value;
  };

  void add(uint32_t start, uint32_t value) {
    if (!segments_.empty() && segments_.back().start == start) {
      segments_.back().value = value;
      return;
    }
    if ((segments_.empty() ? 0 : segments_.back().value) == value) return;
    segments_.push_back({start, value});
  }

  std::vector<Segment> segments_;
};

}  // namespace vesta
