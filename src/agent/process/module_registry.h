// All files with code that processes have mapped, each once, however many processes use it. Keeps
// them open by descriptor from the moment they are first seen. Bounded: modules that no mapping
// refers to are dropped, and descriptors closed, least recently used first. Not thread-safe; the
// modules that it hands out are.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "agent/process/module.h"
#include "agent/process/safe_devices.h"

namespace vesta::agent {

struct ModuleRegistryOptions {
  std::string proc_root = "/proc";
  size_t max_modules = 16 * 1024;
  size_t max_open_files = 1024;
  size_t max_roots = 1024;
};

// What is known of a file when a mapping of it is met.
struct MappedFile {
  uint32_t pid = 0;
  uint64_t start = 0;
  uint64_t end = 0;
  std::string_view path;
  std::string_view build_id;  // from the kernel; may be empty
  uint64_t device = 0;        // from the kernel; 0 with `inode` 0 when not known
  uint64_t inode = 0;
  std::shared_ptr<const ProcessRoot> root;  // of the process; null when it is our own
};

struct ModuleRegistryCounters {
  uint64_t opened_by_mapping = 0;
  uint64_t opened_in_root = 0;
  uint64_t opened_by_own_path = 0;
  uint64_t not_opened = 0;  // gone, replaced, or not ours to read
  uint64_t not_regular = 0;
  uint64_t served_by_process = 0;  // on a FUSE file system, which might never answer
  uint64_t dropped = 0;
  uint64_t refused = 0;  // all modules are in use
  uint64_t files_closed = 0;
};

class ModuleRegistry {
 public:
  explicit ModuleRegistry(ModuleRegistryOptions options = {});

  // The module of a mapped file, opened now if it is new. Id 0 when it cannot be opened or is no
  // regular file. With `only_elf`, also when it is no ELF file.
  ModuleId acquire(const MappedFile& file, bool only_elf = false);
  // The kernel's own library that all 64-bit processes share; 0 when there is none.
  ModuleId vdso();

  // Null when there is no such module (any more).
  std::shared_ptr<const Module> module(ModuleId id) const;

  // A mapping refers to it from now on; every retain() needs its release().
  void retain(ModuleId id);
  void release(ModuleId id);

  // The root of a process when it sees other files than we do (another mount namespace, chroot);
  // null otherwise.
  std::shared_ptr<const ProcessRoot> root_of(uint32_t pid);

  size_t size() const { return modules_.size(); }
  size_t open_files() const { return open_order_.size(); }
  size_t memory_bytes() const;
  const ModuleRegistryCounters& counters() const { return counters_; }

 private:
  struct Entry {
    std::shared_ptr<const Module> module;
    uint64_t references = 0;
    // The device and inode that the kernel showed for it; they may differ from what stat() says
    // (btrfs, overlayfs).
    uint64_t shown_device = 0;
    uint64_t shown_inode = 0;
    std::list<ModuleId>::iterator open_place;    // in open_order_, when has_open_place
    std::list<ModuleId>::iterator unused_place;  // in unused_, when references == 0
    bool has_open_place = false;
  };
  struct RootKey {
    uint64_t mount_namespace = 0;
    uint64_t device = 0;
    uint64_t inode = 0;
    friend auto operator<=>(const RootKey&, const RootKey&) = default;
  };

  ModuleId find_known(const MappedFile& file);
  Result<TargetFile> open_file(const MappedFile& file);
  bool is_mapped_file(const TargetFile& opened, const MappedFile& file) const;
  ModuleId add(Module::Description about, UniqueFd fd);
  void touch(ModuleId id, Entry& entry);
  void drop(ModuleId id);
  bool make_room();
  void forget_inode(const Entry& entry);

  ModuleRegistryOptions options_;
  uint32_t last_id_ = 0;
  std::unordered_map<ModuleId, Entry> modules_;
  std::unordered_map<std::string, ModuleId> by_build_id_;
  std::map<FileIdentity, ModuleId> by_identity_;  // of files without a build id; ctime left out
  // (device, inode) as the kernel shows them; holds only while the descriptor keeps the inode.
  std::map<std::pair<uint64_t, uint64_t>, ModuleId> by_inode_;
  std::list<ModuleId> open_order_;  // least recently used first
  std::list<ModuleId> unused_;      // longest without a mapping first
  ModuleId vdso_;
  bool is_vdso_known_ = false;
  SafeDevices devices_;
  RootKey own_root_;
  std::map<RootKey, std::weak_ptr<const ProcessRoot>> roots_;
  ModuleRegistryCounters counters_;
};

}  // namespace vesta::agent
