#include "agent/process/module.h"

#include <fmt/format.h>

#include <utility>

#include "base/mutex.h"
#include "profile/binary_identity.h"

namespace vesta::agent {

Module::Module(Description description, UniqueFd fd)
    : about_(std::move(description)), fd_(std::move(fd)) {}

uint64_t Module::bias(uint64_t mapping_start, uint64_t file_offset) const {
  // Without a segment that covers it, offsets serve as addresses: right for most linkers, and at
  // least the same for all processes.
  return mapping_start - about_.head.address_of_offset(file_offset).value_or(file_offset);
}

std::string Module::identity_text() const {
  if (!build_id().empty() || about_.file_hash.empty()) return build_id().hex();
  return fmt::format("{}{}", kFileHashPrefix, about_.file_hash);
}

bool Module::has_fd() const {
  const MutexLock lock(mutex_);
  return fd_.valid();
}

bool Module::is_unchanged() const {
  const MutexLock lock(mutex_);
  if (!fd_.valid()) return false;
  const auto now = identity_of(fd_.get());
  return now && now->size == about_.identity.size && now->mtime_ns == about_.identity.mtime_ns;
}

void Module::close_fd() const {
  const MutexLock lock(mutex_);
  fd_.reset();
}

bool Module::is_same_file(const TargetFile& file) const {
  const FileIdentity& known = about_.identity;
  if (file.identity.device == known.device && file.identity.inode == known.inode &&
      file.identity.size == known.size && file.identity.mtime_ns == known.mtime_ns) {
    return true;
  }
  if (build_id().empty()) return false;
  const auto head = read_elf_head(file.fd.get());
  return head && head->build_id == build_id();
}

Result<UniqueFd> Module::reopen() const {
  // On the device where it was, or not at all: what is mounted there now might never answer.
  const auto check = [this](uint64_t device) { return device == about_.identity.device; };
  if (const auto other_root = root()) {
    auto file = open_in_root(other_root->fd.get(), path(), check);
    if (file && is_same_file(*file)) return std::move(file->fd);
  }
  auto file = open_own_path(path(), check);
  if (file && is_same_file(*file)) return std::move(file->fd);
  return Error{ErrorCode::kNotFound, fmt::format("{} was removed or replaced", path()), ""};
}

Result<std::shared_ptr<const ElfFile>> Module::open() const {
  if (about_.image != nullptr) return about_.image;
  const MutexLock lock(mutex_);
  if (auto elf = mapped_.lock()) return elf;
  if (!fd_.valid()) {
    VESTA_ASSIGN(fd_, reopen());
  }
  VESTA_ASSIGN(InputFile file, InputFile::from_fd(fd_.get(), ElfFile::Limits().max_file_bytes));
  VESTA_ASSIGN(std::shared_ptr<const ElfFile> elf, ElfFile::parse(std::move(file)));
  // Written over in place since it was first seen.
  if (!build_id().empty() && elf->build_id() != build_id()) {
    return Error{ErrorCode::kNotFound, fmt::format("{} has changed", path()), ""};
  }
  mapped_ = elf;
  return elf;
}

}  // namespace vesta::agent
