#include "profile/source_path.h"

#include <vector>

namespace vesta {
namespace {

// Whether some part between slashes is empty, "." or "..".
bool needs_cleaning(std::string_view path) {
  size_t begin = path.starts_with('/') ? 1 : 0;
  if (begin == path.size()) return false;
  while (true) {
    const size_t slash = path.find('/', begin);
    const std::string_view part = path.substr(begin, slash - begin);
    if (part.empty() || part == "." || part == "..") return true;
    if (slash == std::string_view::npos) return false;
    begin = slash + 1;
  }
}

}  // namespace

std::string_view clean_source_path(std::string_view path, std::string& scratch) {
  for (const std::string_view prefix : {"/proc/self/cwd/./", "/proc/self/cwd/"}) {
    if (!path.starts_with(prefix)) continue;
    path.remove_prefix(prefix.size());
    break;
  }
  if (path.empty() || !needs_cleaning(path)) return path;

  const bool is_rooted = path.starts_with('/');
  std::vector<std::string_view> parts;
  size_t begin = 0;
  while (begin <= path.size()) {
    const size_t slash = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, slash - begin);
    begin = slash + 1;
    if (part.empty() || part == ".") continue;
    const bool goes_up = part == "..";
    if (goes_up && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (!goes_up || !is_rooted) {
      parts.push_back(part);
    }
  }
  scratch = is_rooted ? "/" : "";
  for (const std::string_view part : parts) {
    if (!scratch.empty() && scratch.back() != '/') scratch += '/';
    scratch += part;
  }
  if (scratch.empty()) scratch = ".";
  return scratch;
}

}  // namespace vesta
