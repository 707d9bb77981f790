// Functions that a user does not want to see, by patterns on their names. Immutable; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace vesta::agent {

class FrameFilter {
 public:
  FrameFilter() = default;
  // Regular expressions (RE2) for whole names: "runtime.*". kUsage names the one that is none.
  static Result<FrameFilter> compile(const std::vector<std::string>& patterns);

  bool empty() const { return patterns_ == nullptr; }
  bool matches(std::string_view function) const;

 private:
  struct Patterns;
  std::shared_ptr<const Patterns> patterns_;
};

}  // namespace vesta::agent
