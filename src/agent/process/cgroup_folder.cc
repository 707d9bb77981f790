#include "agent/process/cgroup_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "agent/process/proc_files.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxFolders = 65536;
constexpr size_t kMaxMembers = 1 << 20;
constexpr size_t kMaxListBytes = 16 << 20;

std::vector<std::string> subfolders(int parent_fd, const std::string& name, size_t max) {
  std::vector<std::string> out;
  const int fd = ::openat(parent_fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return out;
  DIR* const stream = ::fdopendir(fd);
  if (stream == nullptr) {
    ::close(fd);
    return out;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(stream, ::closedir);
  while (out.size() < max) {
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    const std::string_view child = entry->d_name;
    if (child == "." || child == "..") continue;
    bool is_folder = entry->d_type == DT_DIR;
    if (entry->d_type == DT_UNKNOWN) {
      struct stat info {};
      is_folder =
          ::fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(info.st_mode);
    }
    if (is_folder) out.emplace_back(child);
  }
  std::ranges::sort(out);
  return out;
}

// Paths relative to the open folder, "." first; parents before their children.
std::vector<std::string> folders_in(int fd, size_t max) {
  std::vector<std::string> out = {"."};
  for (size_t i = 0; i < out.size() && out.size() < max; ++i) {
    for (const std::string& child : subfolders(fd, out[i], max - out.size()))
      out.push_back(out[i] + "/" + child);
  }
  return out;
}

void append_numbers(std::string_view text, std::vector<uint32_t>& out) {
  while (!text.empty() && out.size() < kMaxMembers) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    uint32_t pid = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + line.size(), pid);
    // 0 stands for a process of another pid namespace.
    if (error == std::errc() && stop == line.data() + line.size() && pid != 0) out.push_back(pid);
  }
}

}  // namespace

Result<CgroupFolder> CgroupFolder::open(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("cannot open cgroup {}: {}", path, std::strerror(errno)), ""};
  }
  struct statfs info {};
  if (::fstatfs(fd.get(), &info) != 0 ||
      (info.f_type != CGROUP2_SUPER_MAGIC && info.f_type != CGROUP_SUPER_MAGIC)) {
    return Error{ErrorCode::kNotFound, fmt::format("{} is not a cgroup", path),
                 "cgroups are below /sys/fs/cgroup; /proc/PID/cgroup names those of a process"};
  }
  return CgroupFolder(path, std::move(fd), info.f_type == CGROUP2_SUPER_MAGIC);
}

std::vector<uint32_t> CgroupFolder::processes() const {
  std::vector<uint32_t> out;
  for (const std::string& folder : folders_in(fd_.get(), kMaxFolders)) {
    // In a threaded cgroup the list of processes cannot be read; its root has it.
    const auto text = read_small_file(fd_.get(), (folder + "/cgroup.procs").c_str(), kMaxListBytes);
    if (text.ok()) append_numbers(*text, out);
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool CgroupFolder::has_processes() const {
  if (is_version_2_) {
    // The root cgroup has no such file, and always has processes.
    const auto events = read_small_file(fd_.get(), "cgroup.events", 4096);
    if (events.ok()) return events->find("populated 1") != std::string::npos;
  }
  return !processes().empty();
}

std::vector<std::string> list_folders(const std::string& root, size_t max) {
  const UniqueFd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::vector<std::string> out;
  if (!fd.valid()) return out;
  for (const std::string& folder : folders_in(fd.get(), max))
    out.push_back(root + folder.substr(1));
  return out;
}

}  // namespace vesta::agent
