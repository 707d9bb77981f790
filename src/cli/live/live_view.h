// `vesta top` on what runs: samples, and shows the hottest functions of the last seconds again and
// again. On a terminal it takes the whole screen and keys; elsewhere it prints table after table.
#pragma once

#include <cstdint>
#include <string>

#include "agent/profiles/recording.h"
#include "base/time.h"
#include "cli/console.h"
#include "profile/frame_profile.h"
#include "reports/print/report.h"

namespace vesta::cli {

struct LiveOptions {
  agent::RecordingOptions recording;
  std::string what;  // for people
  int64_t interval_ns = kSecond;
  int64_t window_ns = 10 * kSecond;  // what a table is about; whole intervals, one at least
  int64_t duration_ns = 0;           // 0 = until it is ended
  int64_t count = 0;                 // of tables; 0 = no limit
  FrameOptions frames;
  ReportOptions report;
  TopOrder order = TopOrder::kByFlat;
};

// Returns when it is ended, by keys, Ctrl-C, a limit, or the end of all that it looks at.
Result<int> run_live(const LiveOptions& options, Console& console);

}  // namespace vesta::cli
