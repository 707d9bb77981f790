#include "agent/export/outage.h"

namespace vesta::agent {
namespace {

// One request that fails is no outage: servers restart.
constexpr uint32_t kFailuresOfOutage = 2;

}  // namespace

OutageEvent OutageWatch::update(const ExporterStats& stats, UnixNs now) {
  OutageEvent event;
  const bool is_failing = stats.failures_in_a_row >= (is_away_ ? 1 : kFailuresOfOutage);
  if (is_failing) {
    // Away again before all had got through: the same outage.
    is_catching_up_ = false;
    if (!is_away_) {
      is_away_ = true;
      has_dropped_ = false;
      since_ = now;
      before_ = stats;
      event.kind = OutageEvent::Kind::kBegan;
    } else if (!has_dropped_ && stats.expired > before_.expired) {
      has_dropped_ = true;
      event.kind = OutageEvent::Kind::kDropping;
    }
    return event;
  }
  if (!is_away_) return event;
  if (!is_catching_up_) {
    is_catching_up_ = true;
    back_ = now;
    target_ = done(stats) + stats.queued;
  }
  if (done(stats) < target_) return event;
  is_away_ = false;
  is_catching_up_ = false;
  event.kind = OutageEvent::Kind::kEnded;
  event.duration_ns = back_ - since_;
  event.sent = stats.sent - before_.sent;
  event.rejected = stats.rejected - before_.rejected;
  event.expired = stats.expired - before_.expired;
  return event;
}

}  // namespace vesta::agent
