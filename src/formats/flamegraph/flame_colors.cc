#include "formats/flamegraph/flame_colors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/hash.h"

namespace vesta {
namespace {

// Hues per family; each has kTints tints so that neighbours of one package stay distinguishable.
constexpr int kTints = 3;
constexpr int kWarmHues[] = {10, 17, 23, 29, 35, 41, 47, 53};
constexpr int kManagedHues[] = {78, 96, 116, 138, 158, 174};
constexpr int kKernelHues[] = {212, 220, 228};
constexpr int kGreyHues[] = {40};

struct Family {
  std::span<const int> hues;
  int light_saturation;
  int light_lightness;
  int dark_saturation;
  int dark_lightness;
};

constexpr Family kFamilies[] = {
    {kWarmHues, 88, 70, 62, 61},
    {kManagedHues, 46, 69, 34, 57},
    {kKernelHues, 36, 76, 26, 66},
    {kGreyHues, 8, 82, 6, 64},
};
enum FamilyIndex { kWarm, kManaged, kKernel, kGrey };

Rgb from_hsl(double hue, double saturation, double lightness) {
  const double s = saturation / 100, l = lightness / 100;
  const double chroma = s * std::min(l, 1 - l);
  const auto channel = [&](double n) {
    const double k = std::fmod(n + hue / 30, 12);
    const double v = l - chroma * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<uint8_t>(std::lround(v * 255));
  };
  return {channel(0), channel(8), channel(4)};
}

std::vector<FlameColor> make_frame_colors() {
  std::vector<FlameColor> colors;
  for (const Family& family : kFamilies) {
    for (const int hue : family.hues) {
      for (int tint = 0; tint < kTints; ++tint) {
        const int shift = (tint - 1) * 3;
        colors.push_back({from_hsl(hue, family.light_saturation, family.light_lightness + shift),
                          from_hsl(hue, family.dark_saturation, family.dark_lightness + shift)});
      }
    }
  }
  return colors;
}

Rgb mix(Rgb from, Rgb to, double share) {
  const auto channel = [share](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(std::lround(a + (b - a) * share));
  };
  return {channel(from.r, to.r), channel(from.g, to.g), channel(from.b, to.b)};
}

std::vector<FlameColor> make_diff_colors() {
  constexpr FlameColor kSame{{0xe9, 0xe6, 0xe1}, {0xa8, 0xa4, 0x9e}};
  constexpr FlameColor kMore{{0xf2, 0x5c, 0x4c}, {0xf0, 0x6a, 0x58}};
  constexpr FlameColor kLess{{0x57, 0x9d, 0xee}, {0x5f, 0x9f, 0xe8}};
  std::vector<FlameColor> colors;
  for (int step = -kDiffSteps; step <= kDiffSteps; ++step) {
    const FlameColor& end = step < 0 ? kLess : kMore;
    const double share = std::abs(step) / static_cast<double>(kDiffSteps);
    colors.push_back({mix(kSame.light, end.light, share), mix(kSame.dark, end.dark, share)});
  }
  return colors;
}

FamilyIndex family_of(FrameKind kind, std::string_view name) {
  switch (kind) {
    case FrameKind::kKernel:
      return kKernel;
    case FrameKind::kJvm:
    case FrameKind::kCpython:
    case FrameKind::kV8js:
    case FrameKind::kRuby:
    case FrameKind::kPhp:
    case FrameKind::kPerl:
    case FrameKind::kDotnet:
    case FrameKind::kBeam:
    case FrameKind::kLuajit:
      return kManaged;
    case FrameKind::kUnknown:
    case FrameKind::kNative:
    case FrameKind::kGo:
    case FrameKind::kRust:
      break;
  }
  const bool placeholder =
      name.empty() || name == "<unknown>" || (name.front() == '[' && name.back() == ']');
  return placeholder ? kGrey : kWarm;
}

// Where the "::" outside of template arguments and parentheses stand.
std::vector<size_t> find_scopes(std::string_view name) {
  std::vector<size_t> scopes;
  int depth = 0;
  for (size_t i = 0; i + 1 < name.size(); ++i) {
    const char c = name[i];
    if (c == '<' || c == '(' || c == '[' || c == '{') ++depth;
    if ((c == '>' || c == ')' || c == ']' || c == '}') && depth > 0) --depth;
    if (depth == 0 && c == ':' && name[i + 1] == ':') scopes.push_back(i++);
  }
  return scopes;
}

}  // namespace

std::string Rgb::hex() const {
  return fmt::format("#{:02x}{:02x}{:02x}", r, g, b);
}

std::span<const FlameColor> frame_colors() {
  static const std::vector<FlameColor> kColors = make_frame_colors();
  return kColors;
}

std::string_view package_of(std::string_view name) {
  if (name.starts_with('<')) name.remove_prefix(1);  // Rust: "<alloc::vec::Vec<T> as …>::f"
  if (const std::vector<size_t> scopes = find_scopes(name); !scopes.empty()) {
    // "company::part::Type::f" has its package in two parts, "part::Type::f" in one.
    const std::string_view head = name.substr(0, scopes.size() > 2 ? scopes[1] : scopes[0]);
    const size_t space = head.rfind(' ');  // a return type
    return space == std::string_view::npos ? head : head.substr(space + 1);
  }
  const std::string_view path = name.substr(0, name.find('('));
  const size_t slash = path.rfind('/');
  const size_t dot = path.find('.', slash == std::string_view::npos ? 0 : slash);
  if (dot != std::string_view::npos) return path.substr(0, dot);
  return {};
}

size_t frame_color_index(const FrameName& frame) {
  const std::string_view name = frame.name;
  const FamilyIndex family = family_of(frame.kind, name);
  // What tells little is passed over; who knows the name need not know its file or binary.
  std::string_view group = package_of(name);
  for (const std::string_view next : {name, frame.binary, frame.file})
    if (group.empty()) group = next;

  size_t first = 0;
  for (int i = 0; i < family; ++i) first += kFamilies[i].hues.size() * kTints;
  const size_t hue = hash64(group) % kFamilies[family].hues.size();
  return first + hue * kTints + hash64(name) % kTints;
}

std::span<const FlameColor> diff_colors() {
  static const std::vector<FlameColor> kColors = make_diff_colors();
  return kColors;
}

int diff_step(int64_t before, int64_t after) {
  const double delta = static_cast<double>(after) - static_cast<double>(before);
  if (delta == 0) return 0;
  const int sign = delta > 0 ? 1 : -1;
  if (before == 0) return sign * kDiffSteps;
  const double percent = std::fabs(delta / static_cast<double>(before)) * 100;
  int step = 0;
  while (step < kDiffSteps && percent >= kDiffBounds[step]) ++step;
  return sign * step;
}

}  // namespace vesta
