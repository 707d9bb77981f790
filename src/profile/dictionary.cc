#include "profile/dictionary.h"

namespace vesta {
namespace {

constexpr std::array<std::string_view, 14> kKindNames = {
    "",     "native", "kernel", "go",   "rust",   "jvm",  "cpython",
    "v8js", "ruby",   "php",    "perl", "dotnet", "beam", "luajit"};

}  // namespace

std::string_view frame_kind_name(FrameKind kind) {
  return kKindNames[static_cast<size_t>(kind)];
}

FrameKind frame_kind_from_name(std::string_view name) {
  for (size_t i = 1; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<FrameKind>(i);
  }
  return FrameKind::kUnknown;
}

}  // namespace vesta
