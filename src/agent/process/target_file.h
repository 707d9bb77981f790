// Opens files that belong to other processes, as those see them, without being led astray: regular
// files only (looked at before they are opened, so no device or pipe is ever touched), never
// outside the other's root, and not from file systems that another process serves (FUSE), which
// could keep us waiting for ever. Owners are descriptors; thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace vesta::agent {

struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

struct TargetFile {
  UniqueFd fd;
  FileIdentity identity;
};

// The root folder of processes that see other files than we do (containers, chroot).
struct ProcessRoot {
  UniqueFd fd;  // O_PATH
  uint64_t mount_namespace = 0;
};

Result<FileIdentity> identity_of(int fd);

// Is a device one that a process serves (FUSE), by the text of /proc/PID/mountinfo? False when it
// is not mentioned.
bool is_served_by_process(std::string_view mountinfo, uint64_t device);

// Says of a device whether its files may be opened; asked before that.
using DeviceCheck = std::function<bool(uint64_t device)>;

// The file behind a mapping, even if it was deleted or replaced: /proc/PID/map_files. Needs
// CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN.
Result<TargetFile> open_map_file(const std::string& proc_root, uint32_t pid, uint64_t start,
                                 uint64_t end, const DeviceCheck& check = {});
// A path below a root folder; links in it, absolute ones too, stay below that root. Only when the
// kernel has the way there in its cache, as it does for what is running: whoever owns the root may
// have put a file system in the way that never answers.
Result<TargetFile> open_in_root(int root_fd, const std::string& path,
                                const DeviceCheck& check = {});
// A file in a folder that the kernel has in its cache, such as the one of a mapped library, though
// not the file itself: asks the folder's own file system, which `check` must have approved, and no
// other.
Result<TargetFile> open_in_known_folder(int root_fd, const std::string& folder,
                                        const std::string& name, const DeviceCheck& check);
// A path as we see it ourselves.
Result<TargetFile> open_own_path(const std::string& path, const DeviceCheck& check = {});

}  // namespace vesta::agent
