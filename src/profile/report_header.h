// What every report says first, whatever it is a report of: the type, the total that shares are of,
// the time, and what a reader has to be careful about. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profile/frame_profile.h"

namespace vesta {

struct ReportHeader {
  std::string type;
  std::string unit;
  int64_t total = 0;
  int64_t time_ns = 0;
  int64_t duration_ns = 0;
  std::string main_binary = {};
  uint64_t samples = 0;  // 0 = not known
  std::vector<ReportWarning> warnings = {};
  std::vector<LossCount> losses = {};
  double named = 1;  // share of the weight whose innermost frame has a name; for JSON alone
  // Of a comparison.
  bool has_baseline = false;
  int64_t baseline_total = 0;
  uint64_t baseline_samples = 0;
  int64_t baseline_duration_ns = 0;
};

// `named` is not looked for.
ReportHeader header_of(const FrameProfile& profile);
ReportHeader header_of(const MergedProfile& profile);
// Share of the weight whose innermost frame has a name.
double named_share(const FrameProfile& profile);

}  // namespace vesta
