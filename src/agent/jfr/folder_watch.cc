#include "agent/jfr/folder_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace vesta::agent {
namespace {

constexpr int kMaxDepth = 32;
constexpr uint32_t kFolderMask = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE |
                                 IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr uint32_t kAncestorMask =
    IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_ADD;

bool is_network(int fd) {
  constexpr std::array<uint64_t, 7> kNetworks = {
      NFS_SUPER_MAGIC, SMB_SUPER_MAGIC,  0xff534d42 /* CIFS */, 0xfe534d42 /* SMB2 */,
      V9FS_MAGIC,      CEPH_SUPER_MAGIC, FUSE_SUPER_MAGIC};
  struct statfs info {};
  if (::fstatfs(fd, &info) != 0) return false;
  for (const uint64_t magic : kNetworks)
    if (static_cast<uint64_t>(info.f_type) == magic) return true;
  return false;
}

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

}  // namespace

Result<std::unique_ptr<FolderWatch>> FolderWatch::open(const FolderWatchOptions& options) {
  std::unique_ptr<FolderWatch> watch(new FolderWatch());
  watch->options_ = options;
  watch->is_there_.resize(options.folders.size());
  for (std::string& folder : watch->options_.folders) {
    folder = std::filesystem::path(folder).lexically_normal().string();
    if (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    if (!folder.starts_with('/')) {
      return Error{ErrorCode::kUsage, fmt::format("'{}' is not an absolute path", folder),
                   "use the full path of the folder"};
    }
  }
  watch->inotify_ = UniqueFd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!watch->inotify_.valid()) {
    return Error{ErrorCode::kIo, fmt::format("cannot watch folders: {}", std::strerror(errno)),
                 "try raising sysctl fs.inotify.max_user_instances"};
  }
  return watch;
}

Result<UniqueFd> FolderWatch::open_below(size_t folder, const std::string& path, int flags) const {
  UniqueFd root(::open(options_.folders[folder].c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const auto error = [&] {
    return Error{errno == ENOENT || errno == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo,
                 fmt::format("cannot open {}: {}", joined(options_.folders[folder], path),
                             std::strerror(errno)),
                 ""};
  };
  if (!root.valid()) return error();
  open_how how{};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  // Whoever fills the folder must not be able to make us read what lies elsewhere.
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  const char* const name = path.empty() ? "." : path.c_str();
  UniqueFd fd(static_cast<int>(::syscall(SYS_openat2, root.get(), name, &how, sizeof(how))));
  if (!fd.valid()) return error();
  return fd;
}

bool FolderWatch::add_watch(int folder_fd, uint32_t mask, Place place) {
  if (places_.size() >= options_.max_folders) {
    ++watches_missing_;
    return false;
  }
  const std::string name = fmt::format("/proc/self/fd/{}", folder_fd);
  const int watch = ::inotify_add_watch(inotify_.get(), name.c_str(), mask);
  if (watch < 0) {
    ++watches_missing_;  // fs.inotify.max_user_watches
    return false;
  }
  const auto found = places_.find(watch);
  // A folder that is watched for what it holds stays so when it is an ancestor as well.
  if (found == places_.end() || found->second.is_ancestor) places_[watch] = std::move(place);
  return true;
}

void FolderWatch::drop_watches(size_t folder, const std::string& path) {
  std::erase_if(places_, [&](const auto& entry) {
    const auto& [watch, place] = entry;
    const bool below = place.folder == folder && !place.is_ancestor &&
                       (path.empty() || place.path == path || place.path.starts_with(path + "/"));
    if (below) ::inotify_rm_watch(inotify_.get(), watch);
    return below;
  });
}

bool FolderWatch::is_wanted(std::string_view name) const {
  for (const std::string& ending : options_.endings)
    if (name.size() > ending.size() && name.ends_with(ending)) return true;
  return false;
}

void FolderWatch::scan(const Use& use) {
  for (const auto& [watch, place] : places_) ::inotify_rm_watch(inotify_.get(), watch);
  places_.clear();
  watches_missing_ = 0;
  on_network_ = false;
  for (size_t folder = 0; folder < options_.folders.size(); ++folder) scan_folder(folder, use);
}

void FolderWatch::scan_folder(size_t folder, const Use& use) {
  is_there_[folder] = open_below(folder, "", O_RDONLY | O_DIRECTORY).ok();
  if (!is_there_[folder]) {
    watch_ancestor(folder);
    // It may have come before the watch did.
    is_there_[folder] = open_below(folder, "", O_RDONLY | O_DIRECTORY).ok();
  }
  if (!is_there_[folder]) return;
  drop_ancestors();
  scan_below(folder, "", use, 0);
}

// Those that are still needed are put back: several missing folders may share one.
void FolderWatch::drop_ancestors() {
  std::erase_if(places_, [&](const auto& entry) {
    if (entry.second.is_ancestor) ::inotify_rm_watch(inotify_.get(), entry.first);
    return entry.second.is_ancestor;
  });
  for (size_t folder = 0; folder < is_there_.size(); ++folder)
    if (!is_there_[folder]) watch_ancestor(folder);
}

void FolderWatch::watch_ancestor(size_t folder) {
  std::filesystem::path path = options_.folders[folder];
  while (path.has_relative_path()) {
    path = path.parent_path();
    const UniqueFd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) continue;
    add_watch(fd.get(), kAncestorMask, {folder, "", true});
    return;
  }
}

void FolderWatch::scan_below(size_t folder, const std::string& path, const Use& use, int depth) {
  auto opened = open_below(folder, path, O_RDONLY | O_DIRECTORY);
  if (!opened.ok()) return;
  on_network_ |= is_network(opened->get());
  // First the watch, then the list: what comes in between is seen twice rather than never.
  add_watch(opened->get(), kFolderMask, {folder, path, false});
  DIR* const list = ::fdopendir(opened->release());
  if (list == nullptr) return;
  std::vector<std::string> folders;
  while (const dirent* entry = ::readdir(list)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN) folders.emplace_back(name);
    if ((entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN) && is_wanted(name))
      use({FolderEvent::Kind::kSeen, folder, joined(path, std::string(name))});
  }
  ::closedir(list);
  if (!options_.recursive || depth >= kMaxDepth) return;
  for (const std::string& name : folders) scan_below(folder, joined(path, name), use, depth + 1);
}

void FolderWatch::read(const Use& use) {
  alignas(inotify_event) std::array<char, 64 * 1024> buffer{};
  while (true) {
    const ssize_t bytes = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (bytes <= 0) return;
    for (size_t at = 0; at + sizeof(inotify_event) <= static_cast<size_t>(bytes);) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += sizeof(inotify_event) + event->len;
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        ++overflows_;
        use({FolderEvent::Kind::kMissed, 0, ""});
        continue;
      }
      const auto found = places_.find(event->wd);
      if (found == places_.end()) continue;
      const Place place = found->second;  // handling the event may change the table
      if ((event->mask & IN_IGNORED) != 0) places_.erase(found);
      // The name is padded with zeros.
      handle(event->mask, place, event->len > 0 ? std::string(event->name) : std::string(), use);
    }
  }
}

void FolderWatch::handle(uint32_t mask, const Place& place, const std::string& name,
                         const Use& use) {
  // Something in a folder above, or a folder that is one of ours: any that is missing may be there.
  for (size_t folder = 0; folder < is_there_.size(); ++folder)
    if (!is_there_[folder]) scan_folder(folder, use);
  if (place.is_ancestor) return;
  if ((mask & (IN_DELETE_SELF | IN_MOVE_SELF)) != 0 && place.path.empty()) {
    drop_watches(place.folder, "");
    use({FolderEvent::Kind::kGone, place.folder, ""});
    scan_folder(place.folder, use);
    return;
  }
  if (name.empty()) return;
  const std::string path = joined(place.path, name);
  if ((mask & IN_ISDIR) != 0) {
    if ((mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
      drop_watches(place.folder, path);
      use({FolderEvent::Kind::kGone, place.folder, path});
    } else if ((mask & (IN_CREATE | IN_MOVED_TO)) != 0 && options_.recursive) {
      scan_below(place.folder, path, use, 0);
    }
    return;
  }
  if (!is_wanted(name)) return;
  if ((mask & (IN_CLOSE_WRITE | IN_MOVED_TO)) != 0) {
    use({FolderEvent::Kind::kClosed, place.folder, path});
  } else if ((mask & IN_CREATE) != 0) {
    use({FolderEvent::Kind::kSeen, place.folder, path});
  } else if ((mask & (IN_DELETE | IN_MOVED_FROM)) != 0) {
    use({FolderEvent::Kind::kGone, place.folder, path});
  }
}

}  // namespace vesta::agent
