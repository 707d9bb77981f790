#include "agent/process/safe_devices.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <ctime>

#include "agent/process/proc_files.h"
#include "agent/process/target_file.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxMountinfoBytes = 4 << 20;
constexpr int64_t kKnownSeconds = 5;

}  // namespace

bool SafeDevices::is_safe(uint32_t pid, uint64_t device) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  if (now.tv_sec >= known_until_s_) {
    known_.clear();
    known_until_s_ = now.tv_sec + kKnownSeconds;
  }
  if (const auto it = known_.find(device); it != known_.end()) return it->second;
  bool is_safe = true;
  for (const std::string& who : {std::to_string(pid), std::string("self")}) {
    const std::string path = fmt::format("{}/{}/mountinfo", proc_root_, who);
    const auto text = read_small_file(AT_FDCWD, path.c_str(), kMaxMountinfoBytes);
    if (text && is_served_by_process(*text, device)) is_safe = false;
  }
  known_[device] = is_safe;
  return is_safe;
}

}  // namespace vesta::agent
