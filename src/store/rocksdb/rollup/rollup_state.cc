#include "store/rocksdb/rollup/rollup_state.h"

#include <algorithm>
#include <tuple>

#include "base/mutex.h"

namespace vesta::rocks {

RollupState::Ticket RollupState::begin(const std::vector<Touch>& touches) {
  Ticket ticket;
  const MutexLock lock(mutex_);
  for (const Touch& touch : touches) {
    if (touch.hour < boundary_) {
      State& state = marks_[{touch.hour, touch.series}];
      state.touch = touch;
      ++state.version;
      ++state.writers;
      ticket.late.push_back(touch);
    } else {
      ++early_writers_[touch.hour];
      ticket.early.push_back(touch);
    }
  }
  return ticket;
}

void RollupState::end(const Ticket& ticket) {
  const MutexLock lock(mutex_);
  for (const Touch& touch : ticket.late) --marks_[{touch.hour, touch.series}].writers;
  for (const Touch& touch : ticket.early) {
    const auto found = early_writers_.find(touch.hour);
    if (--found->second == 0) early_writers_.erase(found);
  }
}

void RollupState::restore(Hour hours_done, Day days_done) {
  boundary_ = hours_done_ = hours_done;
  days_done_ = days_done;
}

void RollupState::restore_mark(const Touch& touch) {
  marks_[{touch.hour, touch.series}].touch = touch;
}

RollupView RollupState::view(Hour from, Hour to) const {
  RollupView view;
  view.hours_done = hours_done_;
  view.days_done = days_done_;
  // Whole days: a day's roll-up is no good when any of its hours is not.
  const Hour first = from < 24 ? 0 : first_hour_of(day_of_hour(from));
  for (auto at = marks_.lower_bound({first, 0}); at != marks_.end(); ++at) {
    const Touch& t = at->second.touch;
    if (t.hour > to && day_of_hour(t.hour) != day_of_hour(to)) break;
    const Day day = day_of_hour(t.hour);
    view.dirty_series.emplace(t.hour, t.series);
    view.dirty_series_days.emplace(day, t.series);
    view.dirty_services.emplace(t.hour, t.partition, t.type);
    view.dirty_service_days.emplace(day, t.partition, t.type);
  }
  return view;
}

bool RollupState::close(Hour boundary) {
  boundary_ = std::max(boundary_, boundary);
  return early_writers_.empty() || early_writers_.begin()->first >= boundary;
}

std::vector<RollupState::Mark> RollupState::marks_of_first_day() const {
  std::vector<Mark> out;
  Day day = 0;
  for (const auto& [key, state] : marks_) {
    if (state.writers != 0) continue;
    if (!out.empty() && day_of_hour(state.touch.hour) != day) break;
    day = day_of_hour(state.touch.hour);
    out.push_back({state.touch, state.version});
  }
  return out;
}

bool RollupState::is_same(const Mark& mark) const {
  const auto found = marks_.find({mark.touch.hour, mark.touch.series});
  return found != marks_.end() && found->second.version == mark.version &&
         found->second.writers == 0;
}

void RollupState::clear(const Touch& touch) {
  marks_.erase({touch.hour, touch.series});
}

size_t RollupState::mark_count() const {
  return marks_.size();
}

}  // namespace vesta::rocks
