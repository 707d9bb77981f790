// Which time there is data for: the union of what profiles cover, however many ran at once. Plain
// value; not shared between threads while it is added to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/engine.h"

namespace vesta {

class TimeCover {
 public:
  // Empty ranges add nothing. Cheapest in the order of their starts.
  void add(TimeRange range);
  void add(const TimeCover& other);

  // In order, none touches another.
  const std::vector<TimeRange>& ranges() const { return ranges_; }
  bool empty() const { return ranges_.empty(); }
  // Saturates.
  int64_t length_ns() const;
  size_t byte_size() const { return ranges_.size() * sizeof(TimeRange); }
  void clear() { ranges_.clear(); }

 private:
  std::vector<TimeRange> ranges_;
};

// How much of a cover lies in parts of time that are asked for one after the other.
class CoverCursor {
 public:
  explicit CoverCursor(const TimeCover& cover) : ranges_(cover.ranges()) {}
  // REQUIRES: no part starts before the end of the one asked for before
  int64_t length_in(TimeRange part);

 private:
  const std::vector<TimeRange>& ranges_;
  size_t at_ = 0;
};

}  // namespace vesta
