// Notices when the other side of an exporter is away and when it is back, from its counters, so
// that each is said once. A value that its owner feeds; not thread-safe.
#pragma once

#include <cstdint>

#include "agent/export/exporter.h"
#include "base/time.h"

namespace vesta::agent {

struct OutageEvent {
  enum class Kind : uint8_t {
    kNone,
    kBegan,     // profiles wait in the queue
    kDropping,  // the queue does not hold them all: the first of them are lost
    kEnded,     // all that had waited is dealt with
  };
  Kind kind = Kind::kNone;
  // Of kEnded, since it began.
  int64_t duration_ns = 0;
  uint64_t sent = 0;
  uint64_t rejected = 0;
  uint64_t expired = 0;
};

class OutageWatch {
 public:
  OutageEvent update(const ExporterStats& stats, UnixNs now);
  bool is_away() const { return is_away_; }
  UnixNs since() const { return since_; }

 private:
  static uint64_t done(const ExporterStats& stats) {
    return stats.sent + stats.rejected + stats.expired;
  }

  bool is_away_ = false;
  bool is_catching_up_ = false;
  bool has_dropped_ = false;
  UnixNs since_;
  UnixNs back_;
  uint64_t target_ = 0;   // profiles dealt with when all that had waited are
  ExporterStats before_;  // when it began
};

}  // namespace vesta::agent
