#include "agent/limits/cgroup_memory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "agent/process/proc_files.h"
#include "base/units.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxFileBytes = 64 * 1024;
constexpr size_t kMaxDepth = 64;
// Version 1 has no word for "none", but a number that no host has.
constexpr uint64_t kNoLimit = uint64_t{1} << 60;
constexpr uint64_t kMiB = uint64_t{1} << 20;

std::optional<std::string> read_text(const std::string& path) {
  auto text = read_small_file(AT_FDCWD, path.c_str(), kMaxFileBytes);
  if (!text) return std::nullopt;
  return std::move(*text);
}

std::optional<uint64_t> to_number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::optional<uint64_t> read_number(const std::string& path) {
  const auto text = read_text(path);
  return text ? to_number(*text) : std::nullopt;
}

// "inactive_file 12" among other lines.
uint64_t value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ')
      return to_number(line.substr(key.size() + 1)).value_or(0);
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return 0;
}

// The cgroup that accounts for memory, by /proc/self/cgroup.
struct Place {
  std::string path;
  bool is_version_2 = false;
};
std::optional<Place> memory_cgroup(std::string_view text) {
  std::optional<Place> out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1));
    const std::string path(line.substr(second + 1));
    if (controllers.find(",memory,") != std::string::npos) return Place{path, false};
    if (controllers == ",," && !out) out = Place{path, true};
  }
  return out;
}

// The folder and all around it, innermost first. From inside of a container the path may be one
// that is only there outside; then the root is the container's own.
std::vector<std::string> folders_of(const std::string& root, std::string_view path) {
  std::vector<std::string> out;
  while (path.size() > 1 && out.size() < kMaxDepth) {
    out.push_back(root + std::string(path));
    path = path.substr(0, path.rfind('/'));
  }
  out.push_back(root);
  return out;
}

}  // namespace

std::optional<CgroupMemory> CgroupMemory::find(const CgroupMemoryOptions& options) {
  const auto text = read_text(options.proc_self + "/cgroup");
  const auto place = text ? memory_cgroup(*text) : std::nullopt;
  if (!place || place->path.find("/..") != std::string::npos) return std::nullopt;
  const std::string root = options.cgroup_root + (place->is_version_2 ? "" : "/memory");
  CgroupMemory out;
  out.is_version_2_ = place->is_version_2;
  out.limit_bytes_ = kNoLimit;
  for (const std::string& folder : folders_of(root, place->path)) {
    const auto note = [&](const char* file) {
      const uint64_t limit = read_number(folder + file).value_or(kNoLimit);
      if (limit == 0 || limit >= out.limit_bytes_) return;
      out.limit_bytes_ = limit;
      out.folder_ = folder;
    };
    if (!out.is_version_2_) {
      note("/memory.limit_in_bytes");
    } else {
      note("/memory.max");
      note("/memory.high");  // beyond it everything is slowed down to a crawl
    }
  }
  if (out.folder_.empty()) return std::nullopt;
  return out;
}

uint64_t CgroupMemory::unreclaimable_bytes() const {
  const auto used =
      read_number(folder_ + (is_version_2_ ? "/memory.current" : "/memory.usage_in_bytes"));
  const auto stat = read_text(folder_ + "/memory.stat");
  if (!used || !stat) return 0;
  const std::string prefix = is_version_2_ ? "" : "total_";
  const uint64_t files =
      value_of(*stat, prefix + "inactive_file") + value_of(*stat, prefix + "active_file");
  return *used - std::min(*used, files);
}

uint64_t memory_within(uint64_t cgroup_limit_bytes) {
  return cgroup_limit_bytes / 10 * 7;
}

Status check_cgroup_limit(uint64_t cgroup_limit_bytes, uint32_t cpus) {
  // Measured; see docs/decisions/024-own-cgroup.md.
  const uint64_t least = 111 * kMiB + cpus * (kMiB / 2);
  if (cgroup_limit_bytes >= least) return {};
  const auto bytes = [](uint64_t count) {
    return format_value(static_cast<int64_t>(count), "bytes");
  };
  return Error{ErrorCode::kLimit,
               fmt::format("the memory limit of the agent's cgroup is {0}, but the agent needs {2} "
                           "on {1} CPUs: the kernel would kill it",
                           bytes(cgroup_limit_bytes), cpus, bytes(least)),
               fmt::format("give the container or unit {} or more", bytes(least))};
}

}  // namespace vesta::agent
