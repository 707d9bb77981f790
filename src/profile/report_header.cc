#include "profile/report_header.h"

namespace vesta {

ReportHeader header_of(const FrameProfile& p) {
  return {.type = p.type,
          .unit = p.unit,
          .total = p.total,
          .time_ns = p.time_ns,
          .duration_ns = p.duration_ns,
          .main_binary = p.main_binary,
          .samples = p.samples,
          .warnings = p.warnings,
          .losses = p.losses,
          .has_baseline = p.has_baseline,
          .baseline_total = p.baseline_total,
          .baseline_samples = p.baseline_samples,
          .baseline_duration_ns = p.baseline_duration_ns};
}

ReportHeader header_of(const MergedProfile& p) {
  return {.type = p.type,
          .unit = p.unit,
          .total = total_of(p),
          .time_ns = p.time_ns,
          .duration_ns = p.duration_ns,
          .main_binary = p.main_binary,
          .losses = p.losses};
}

double named_share(const FrameProfile& profile) {
  double named = 0;
  double all = 0;
  for (const StackWeight& weight : profile.weights) {
    const auto stack = profile.stacks[weight.stack];
    const double value = static_cast<double>(saturating_abs(weight.value));
    all += value;
    if (stack.empty()) continue;
    const Frame& frame = profile.frame(stack[0].frame());
    if (frame.name || frame.file) named += value;
  }
  return all == 0 ? 1 : named / all;
}

}  // namespace vesta
