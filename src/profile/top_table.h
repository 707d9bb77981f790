// Flat and cumulative weight of every frame: the table that people know from `pprof -top`. Pure
// functions.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/frame_profile.h"

namespace vesta {

enum class InlineUse : uint8_t { kNever, kSometimes, kAlways };

struct TopRow {
  FrameId frame;
  InlineUse inlined = InlineUse::kNever;  // whether its callers had it inlined
  int64_t flat = 0;                       // with this frame on top of the stack
  int64_t cum = 0;  // with this frame anywhere in the stack; a recursive function counts once
  int64_t baseline_flat = 0;
  int64_t baseline_cum = 0;
};

enum class TopOrder { kByFlat, kByCum };

// Every frame that has weight, largest absolute value first, ties by name.
std::vector<TopRow> top_table(const FrameProfile& profile, TopOrder order);

}  // namespace vesta
