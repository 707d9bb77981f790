// A file with code that processes have mapped: who it is, and how to read it later, even when the
// process has ended and the file has been deleted or replaced. Shared by pointer; open() and the
// rest may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "agent/process/elf_head.h"
#include "agent/process/target_file.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/strong_id.h"
#include "symbols/elf/elf_file.h"

namespace vesta::agent {

using ModuleId = StrongId<struct ModuleTag>;

enum class ModuleKind : uint8_t { kFile, kVdso };

class Module {
 public:
  struct Description {
    ModuleId id;
    ModuleKind kind = ModuleKind::kFile;
    std::string path;  // as the process saw it that mapped it first, without " (deleted)"
    FileIdentity identity;
    bool is_elf = true;
    ElfHead head;
    std::string file_hash;                  // as file_hash() has it, when there is no build id
    uint32_t pid = 0;                       // the process that mapped it first
    std::weak_ptr<const ProcessRoot> root;  // empty when it sees the same files as we do
    std::shared_ptr<const ElfFile> image;   // for what has no file
  };

  Module(Description description, UniqueFd fd);

  ModuleId id() const { return about_.id; }
  ModuleKind kind() const { return about_.kind; }
  const std::string& path() const { return about_.path; }
  const BuildId& build_id() const { return about_.head.build_id; }
  // Its build id in hexadecimal, or else the hash of its content as a mapping carries it.
  std::string identity_text() const;
  const FileIdentity& identity() const { return about_.identity; }
  bool is_elf() const { return about_.is_elf; }
  uint32_t pid() const { return about_.pid; }

  // The root in which to look for its debug files first; null when that is our own, or when all
  // processes that lived in it have gone.
  std::shared_ptr<const ProcessRoot> root() const { return about_.root.lock(); }

  // Where its code is in its own address space.
  std::span<const ElfHead::Segment> code_segments() const { return about_.head.code; }

  // Process address = ELF address + bias, for a mapping of this file.
  uint64_t bias(uint64_t mapping_start, uint64_t file_offset) const;

  // Maps the file. Users at the same time share one mapping. kNotFound when the file has gone, and
  // when what is at its path is another one now.
  Result<std::shared_ptr<const ElfFile>> open() const;

  bool has_fd() const;
  // True when the file is still the one that was opened: same inode, size and modification time.
  bool is_unchanged() const;
  void close_fd() const;

 private:
  Result<UniqueFd> reopen() const;
  bool is_same_file(const TargetFile& file) const;

  const Description about_;
  mutable Mutex mutex_;
  mutable UniqueFd fd_ GUARDED_BY(mutex_);
  mutable std::weak_ptr<const ElfFile> mapped_ GUARDED_BY(mutex_);
};

}  // namespace vesta::agent
