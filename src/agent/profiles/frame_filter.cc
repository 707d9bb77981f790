#include "agent/profiles/frame_filter.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

namespace vesta::agent {
namespace {

constexpr int64_t kMaxProgramBytes = 8 << 20;

RE2::Options options() {
  RE2::Options out;
  out.set_log_errors(false);
  out.set_max_mem(kMaxProgramBytes);
  return out;
}

}  // namespace

struct FrameFilter::Patterns {
  RE2::Set set{options(), RE2::ANCHOR_BOTH};
};

Result<FrameFilter> FrameFilter::compile(const std::vector<std::string>& patterns) {
  FrameFilter filter;
  if (patterns.empty()) return filter;
  auto compiled = std::make_shared<Patterns>();
  for (const std::string& pattern : patterns) {
    std::string problem;
    if (compiled->set.Add(pattern, &problem) >= 0) continue;
    return Error{ErrorCode::kUsage,
                 fmt::format("filters.exclude_patterns: '{}' is not a regular expression: {}",
                             pattern, problem),
                 "patterns match whole names: \"runtime\\\\..*\" for all functions of a package"};
  }
  if (!compiled->set.Compile())
    return Error{ErrorCode::kUsage, "filters.exclude_patterns: the patterns are too large", ""};
  filter.patterns_ = std::move(compiled);
  return filter;
}

bool FrameFilter::matches(std::string_view function) const {
  return patterns_ != nullptr && patterns_->set.Match({function.data(), function.size()}, nullptr);
}

}  // namespace vesta::agent
