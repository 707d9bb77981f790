#include "agent/probes/off_cpu/function_names.h"

#include <algorithm>

namespace vesta::agent {
namespace {

bool matches(std::string_view pattern, std::string_view function) {
  if (pattern.ends_with('*')) return function.starts_with(pattern.substr(0, pattern.size() - 1));
  return function == pattern;
}

}  // namespace

bool names_any(std::string_view patterns, std::string_view function) {
  while (!patterns.empty()) {
    const size_t end = std::min(patterns.find(' '), patterns.size());
    if (matches(patterns.substr(0, end), function)) return true;
    patterns.remove_prefix(std::min(end + 1, patterns.size()));
  }
  return false;
}

}  // namespace vesta::agent
