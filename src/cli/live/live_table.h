// What `vesta top` shows of a profile that changes: a head with how far to trust it, and the
// hottest functions. Pure functions.
#pragma once

#include <string>

#include "cli/live/live_profile.h"
#include "reports/function_table.h"
#include "reports/print/text_style.h"

namespace vesta::cli {

struct LiveTableOptions {
  TextStyle style;  // a width cuts lines
  TopOrder order = TopOrder::kByFlat;
  size_t max_rows = 0;  // 0 = all
  std::string filter;   // only rows whose function or binary has this text in it; any case
  std::string what;     // "process 1234"
  uint32_t frequency = 0;
  uint64_t lost = 0;  // since the start
  bool is_paused = false;
};

// Lines that end with a newline: two of head, one of column names, and the rows.
std::string live_table(const LiveProfile::Window& window, const LiveTableOptions& options);

}  // namespace vesta::cli
