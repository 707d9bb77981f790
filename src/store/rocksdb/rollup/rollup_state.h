// Which roll-ups of one tenant say all that the profiles say. Hours below the watermark are rolled
// up, but for those with a mark, which were written to since. Writers take part with begin() and
// end() around every write, so that nothing slips in between a roll-up and its watermark. README.md
// has the state machine. Thread-safe where it says so.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "store/rocksdb/format/keys.h"

namespace vesta::rocks {

// Profiles of a series in an hour, about to be written or deleted.
struct Touch {
  Hour hour = 0;
  SeriesNumber series = 0;
  PartitionNumber partition = 0;
  TypeNumber type = 0;
  friend auto operator<=>(const Touch&, const Touch&) = default;
};

// What a query may take from roll-ups.
struct RollupView {
  Hour hours_done = 0;  // hours below are rolled up
  Day days_done = 0;
  std::set<std::pair<Hour, SeriesNumber>> dirty_series;
  std::set<std::pair<Day, SeriesNumber>> dirty_series_days;
  std::set<std::tuple<Hour, PartitionNumber, TypeNumber>> dirty_services;
  std::set<std::tuple<Day, PartitionNumber, TypeNumber>> dirty_service_days;
};

class RollupState {
 public:
  struct Ticket {
    std::vector<Touch> late;  // need a mark in the store, in the same batch as the data
    std::vector<Touch> early;
  };
  // Both thread-safe. `touches` has each hour and series once.
  Ticket begin(const std::vector<Touch>& touches);
  void end(const Ticket& ticket);

  // Held for all below.
  Mutex& mutex() RETURN_CAPABILITY(mutex_) { return mutex_; }

  // From the store, when it is opened.
  void restore(Hour hours_done, Day days_done) REQUIRES(mutex_);
  void restore_mark(const Touch& touch) REQUIRES(mutex_);

  Hour hours_done() const REQUIRES(mutex_) { return hours_done_; }
  Day days_done() const REQUIRES(mutex_) { return days_done_; }
  RollupView view(Hour from, Hour to) const REQUIRES(mutex_);

  // From now on, writes below the boundary leave a mark. False while an earlier write, which left
  // none, is on its way: ask again.
  bool close(Hour boundary) REQUIRES(mutex_);
  void set_done(Hour hours_done, Day days_done) REQUIRES(mutex_) {
    hours_done_ = hours_done;
    days_done_ = days_done;
  }

  struct Mark {
    Touch touch;
    uint64_t version = 0;
  };
  // Marks with no write on its way, from the first hour on, and of that day alone.
  std::vector<Mark> marks_of_first_day() const REQUIRES(mutex_);
  // Whether nothing touched it since.
  bool is_same(const Mark& mark) const REQUIRES(mutex_);
  void clear(const Touch& touch) REQUIRES(mutex_);
  size_t mark_count() const REQUIRES(mutex_);

 private:
  struct State {
    Touch touch;
    uint64_t version = 0;
    uint32_t writers = 0;
  };
  Mutex mutex_;
  Hour boundary_ GUARDED_BY(mutex_) = 0;
  Hour hours_done_ GUARDED_BY(mutex_) = 0;
  Day days_done_ GUARDED_BY(mutex_) = 0;
  std::map<std::pair<Hour, SeriesNumber>, State> marks_ GUARDED_BY(mutex_);
  std::map<Hour, uint32_t> early_writers_ GUARDED_BY(mutex_);
};

}  // namespace vesta::rocks
