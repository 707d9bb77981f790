// Colours of flame graphs, one table for the SVG and the page. Hue says who runs a frame (warm:
// native, green: managed runtimes, slate: kernel, grey: placeholders), the shade tells packages or
// functions apart. Every colour carries dark text with a contrast of at least 4.5:1. Constants.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "profile/frame_name.h"

namespace vesta {

struct Rgb {
  uint8_t r = 0, g = 0, b = 0;
  std::string hex() const;  // "#aabbcc"
};

struct FlameColor {
  Rgb light;  // on a light page
  Rgb dark;   // on a dark page
};

// What labels are written with on any colour of the tables.
constexpr Rgb kFlameTextColor{0x1c, 0x17, 0x12};

std::span<const FlameColor> frame_colors();
// Index into frame_colors(); the same for a frame in every profile.
size_t frame_color_index(const FrameName& frame);

// "net/http" of "net/http.(*conn).serve", "ns" of "void ns::Type<int>::f()", "a::b" of
// "a::b::Type::f"; empty for "malloc".
std::string_view package_of(std::string_view function_name);

// Steps of relative change from -5 (half or less) over 0 (within 1 %) to +5 (half as much again or
// more).
constexpr int kDiffSteps = 5;
// Lower bounds of the steps 1..5, in per cent.
constexpr int kDiffBounds[kDiffSteps] = {1, 5, 10, 25, 50};

// 2 * kDiffSteps + 1 colours; index kDiffSteps is "no change".
std::span<const FlameColor> diff_colors();
int diff_step(int64_t before, int64_t after);

}  // namespace vesta
