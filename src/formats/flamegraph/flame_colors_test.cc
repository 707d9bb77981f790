#include "formats/flamegraph/flame_colors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "formats/flamegraph/folded_sample.h"

namespace vesta {
namespace {

// Relative luminance and contrast as WCAG 2.2 defines them.
double luminance(Rgb color) {
  const auto linear = [](uint8_t channel) {
    const double value = channel / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(color.r) + 0.7152 * linear(color.g) + 0.0722 * linear(color.b);
}

double contrast(Rgb a, Rgb b) {
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

TEST(FlameColorsTest, LabelsAreReadableOnEveryColour) {
  for (const std::span<const FlameColor> colors : {frame_colors(), diff_colors()}) {
    for (const FlameColor& color : colors) {
      EXPECT_GE(contrast(color.light, kFlameTextColor), 4.5) << color.light.hex();
      EXPECT_GE(contrast(color.dark, kFlameTextColor), 4.5) << color.dark.hex();
    }
  }
}

TEST(FlameColorsTest, KernelManagedAndPlaceholderFramesHaveColoursOfTheirOwn) {
  FoldedSample sample;
  sample.add("work;sys_read_[k];java.lang.Thread.run_[j];[lost: ring full] 1");
  const FrameProfile profile = sample.profile();
  std::set<size_t> seen;
  for (size_t i = 1; i < profile.frames.size(); ++i) {
    seen.insert(frame_color_index(name_of(profile, FrameId(i))));
  }
  EXPECT_EQ(seen.size(), 4u);
}

TEST(FlameColorsTest, ColourFollowsThePackage) {
  EXPECT_EQ(package_of("net/http.(*conn).serve"), "net/http");
  EXPECT_EQ(package_of("void ns::Type<a::b>::f(c::d)"), "ns");
  EXPECT_EQ(package_of("<alloc::vec::Vec<T> as core::ops::Drop>::drop"), "alloc::vec");
  EXPECT_EQ(package_of("acme::net::Socket::read(int)"), "acme::net");
  EXPECT_EQ(package_of("main.work"), "main");
  EXPECT_EQ(package_of("malloc"), "");
}

TEST(FlameColorsTest, StepsOfChangeAreSymmetricAndBounded) {
  EXPECT_EQ(diff_step(100, 100), 0);
  EXPECT_EQ(diff_step(1000, 1005), 0);
  EXPECT_EQ(diff_step(100, 101), 1);
  EXPECT_EQ(diff_step(100, 112), 3);
  EXPECT_EQ(diff_step(100, 88), -3);
  EXPECT_EQ(diff_step(100, 400), kDiffSteps);
  EXPECT_EQ(diff_step(0, 5), kDiffSteps);
  EXPECT_EQ(diff_step(5, 0), -kDiffSteps);
  EXPECT_EQ(diff_step(0, 0), 0);
  EXPECT_EQ(diff_step(INT64_MIN, INT64_MAX), kDiffSteps);
}

}  // namespace
}  // namespace vesta
