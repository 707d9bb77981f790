#include "agent/process/module_registry.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <utility>

#include "agent/process/file_hash.h"
#include "agent/process/proc_files.h"

namespace vesta::agent {
namespace {

constexpr uint64_t kMaxVdsoBytes = 1 << 20;

FileIdentity without_ctime(FileIdentity identity) {
  identity.ctime_ns = 0;
  return identity;
}

bool has_build_id(const TargetFile& opened, std::string_view build_id) {
  const auto head = read_elf_head(opened.fd.get());
  return head && head->build_id.bytes == build_id;
}

// A copy of our own vDSO; empty when there is none.
std::string own_vdso_image() {
  const uint64_t address = ::getauxval(AT_SYSINFO_EHDR);
  uint64_t size = 0;
  const auto self = ProcDir::open("/proc", static_cast<uint32_t>(::getpid()));
  if (address == 0 || !self) return {};
  const auto lines = self->read_maps([&](const ProcMapping& mapping) {
    if (mapping.start == address && mapping.path == "[vdso]") size = mapping.end - mapping.start;
  });
  if (!lines || size == 0 || size > kMaxVdsoBytes) return {};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel gives it as a number.
  return {reinterpret_cast<const char*>(address), static_cast<size_t>(size)};
}

}  // namespace

ModuleRegistry::ModuleRegistry(ModuleRegistryOptions options)
    : options_(std::move(options)), devices_(options_.proc_root) {
  struct stat info {};
  if (::stat("/proc/self/ns/mnt", &info) == 0) own_root_.mount_namespace = info.st_ino;
  if (::stat("/", &info) == 0) {
    own_root_.device = info.st_dev;
    own_root_.inode = info.st_ino;
  }
}

std::shared_ptr<const Module> ModuleRegistry::module(ModuleId id) const {
  const auto it = modules_.find(id);
  return it == modules_.end() ? nullptr : it->second.module;
}

ModuleId ModuleRegistry::find_known(const MappedFile& file) {
  if (!file.build_id.empty()) {
    const auto it = by_build_id_.find(std::string(file.build_id));
    return it == by_build_id_.end() ? ModuleId() : it->second;
  }
  if (file.inode == 0) return {};
  const auto it = by_inode_.find({file.device, file.inode});
  if (it == by_inode_.end()) return {};
  // The open descriptor keeps the inode number from being given to another file.
  return module(it->second)->is_unchanged() ? it->second : ModuleId();
}

bool ModuleRegistry::is_mapped_file(const TargetFile& opened, const MappedFile& file) const {
  if (file.inode != 0) {
    return opened.identity.inode == file.inode && opened.identity.device == file.device;
  }
  return !file.build_id.empty() && has_build_id(opened, file.build_id);
}

Result<TargetFile> ModuleRegistry::open_file(const MappedFile& file) {
  const auto check = [&](uint64_t device) { return devices_.is_safe(file.pid, device); };
  auto opened = open_map_file(options_.proc_root, file.pid, file.start, file.end, check);
  // News may be late: by now another file may be mapped there. Where the kernel told a build id
  // that can be seen; device and inode numbers are not always those that stat() tells of the same
  // file.
  const bool is_another = opened && !file.build_id.empty() && !has_build_id(*opened, file.build_id);
  if (opened && !is_another) {
    ++counters_.opened_by_mapping;
    return opened;
  }
  if (!is_another && (opened.error().code == ErrorCode::kInvalidInput ||
                      opened.error().code == ErrorCode::kUnsupported)) {
    return opened;
  }
  const std::string path(file.path);
  const std::string root_path = fmt::format("{}/{}/root", options_.proc_root, file.pid);
  const UniqueFd root(::open(root_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const int root_fd = root.valid() ? root.get() : file.root != nullptr ? file.root->fd.get() : -1;
  if (root_fd >= 0) {
    auto in_root = open_in_root(root_fd, path, check);
    if (in_root && is_mapped_file(*in_root, file)) {
      ++counters_.opened_in_root;
      return in_root;
    }
  }
  // The process has gone, or the kernel wrote its path from our own root.
  auto own = open_own_path(path, check);
  if (own && is_mapped_file(*own, file)) {
    ++counters_.opened_by_own_path;
    return own;
  }
  return Error{ErrorCode::kNotFound, fmt::format("the file of {} is not available", path), ""};
}

ModuleId ModuleRegistry::acquire(const MappedFile& file, bool only_elf) {
  if (const ModuleId known = find_known(file)) {
    Entry& entry = modules_.at(known);
    touch(known, entry);
    return known;
  }
  auto opened = open_file(file);
  if (!opened) {
    if (opened.error().code == ErrorCode::kInvalidInput) {
      ++counters_.not_regular;
    } else if (opened.error().code == ErrorCode::kUnsupported) {
      ++counters_.served_by_process;
    } else {
      ++counters_.not_opened;
    }
    return {};
  }
  Module::Description about;
  about.path = unescape_maps_path(file.path);
  about.identity = opened->identity;
  about.pid = file.pid;
  about.root = file.root;
  auto head = read_elf_head(opened->fd.get());
  about.is_elf = head.has_value();
  if (only_elf && !about.is_elf) return {};
  if (head) about.head = std::move(*head);
  if (about.is_elf && about.head.build_id.empty())
    about.file_hash = file_hash(opened->fd.get(), about.identity.size);
  // A file that was met under another name, or before its build id was known.
  ModuleId id;
  if (!about.head.build_id.empty()) {
    const auto it = by_build_id_.find(about.head.build_id.bytes);
    if (it != by_build_id_.end()) id = it->second;
  } else {
    const auto it = by_identity_.find(without_ctime(about.identity));
    if (it != by_identity_.end()) id = it->second;
  }
  if (!id) id = add(std::move(about), std::move(opened->fd));
  if (!id) return {};
  Entry& entry = modules_.at(id);
  // Only a file that we hold open keeps its inode number; another copy with the same build id does
  // not.
  const FileIdentity& held = entry.module->identity();
  if (file.inode != 0 && entry.module->has_fd() && held.inode == opened->identity.inode &&
      held.device == opened->identity.device) {
    forget_inode(entry);
    entry.shown_device = file.device;
    entry.shown_inode = file.inode;
    by_inode_[{file.device, file.inode}] = id;
  }
  touch(id, entry);
  return id;
}

ModuleId ModuleRegistry::vdso() {
  if (is_vdso_known_) return vdso_;
  is_vdso_known_ = true;
  std::string image = own_vdso_image();
  const std::string_view bytes = image;
  auto head = read_elf_head([bytes](uint64_t offset, std::span<char> out) -> size_t {
    if (offset >= bytes.size()) return 0;
    return bytes.substr(offset).copy(out.data(), out.size());
  });
  auto elf = ElfFile::parse(InputFile::from_bytes(image));
  if (!head || !elf) return {};
  Module::Description about;
  about.kind = ModuleKind::kVdso;
  about.path = "[vdso]";
  about.head = std::move(*head);
  about.image = std::move(*elf);
  vdso_ = add(std::move(about), UniqueFd());
  if (vdso_) retain(vdso_);  // for ever
  return vdso_;
}

ModuleId ModuleRegistry::add(Module::Description about, UniqueFd fd) {
  if (!make_room()) {
    ++counters_.refused;
    return {};
  }
  about.id = ModuleId(++last_id_);
  const ModuleId id = about.id;
  const bool is_open = fd.valid();
  Entry entry;
  entry.module = std::make_shared<const Module>(std::move(about), std::move(fd));
  if (!entry.module->build_id().empty()) {
    by_build_id_[entry.module->build_id().bytes] = id;
  } else if (entry.module->kind() == ModuleKind::kFile) {
    by_identity_[without_ctime(entry.module->identity())] = id;
  }
  entry.unused_place = unused_.insert(unused_.end(), id);
  if (is_open) {
    entry.open_place = open_order_.insert(open_order_.end(), id);
    entry.has_open_place = true;
  }
  modules_.emplace(id, std::move(entry));
  while (open_order_.size() > options_.max_open_files) {
    Entry& oldest = modules_.at(open_order_.front());
    oldest.module->close_fd();
    forget_inode(oldest);
    oldest.has_open_place = false;
    open_order_.pop_front();
    ++counters_.files_closed;
  }
  return id;
}

void ModuleRegistry::touch(ModuleId id, Entry& entry) {
  if (entry.has_open_place) {
    open_order_.splice(open_order_.end(), open_order_, entry.open_place);
  } else if (entry.module->kind() == ModuleKind::kFile && entry.module->has_fd()) {
    // Someone reopened it.
    entry.open_place = open_order_.insert(open_order_.end(), id);
    entry.has_open_place = true;
  }
  if (entry.references == 0) unused_.splice(unused_.end(), unused_, entry.unused_place);
}

void ModuleRegistry::retain(ModuleId id) {
  const auto it = modules_.find(id);
  if (it == modules_.end()) return;
  if (it->second.references++ == 0) unused_.erase(it->second.unused_place);
}

void ModuleRegistry::release(ModuleId id) {
  const auto it = modules_.find(id);
  if (it == modules_.end() || it->second.references == 0) return;
  if (--it->second.references == 0) it->second.unused_place = unused_.insert(unused_.end(), id);
}

bool ModuleRegistry::make_room() {
  while (modules_.size() >= options_.max_modules) {
    if (unused_.empty()) return false;
    drop(unused_.front());
    ++counters_.dropped;
  }
  return true;
}

void ModuleRegistry::forget_inode(const Entry& entry) {
  const auto it = by_inode_.find({entry.shown_device, entry.shown_inode});
  if (it != by_inode_.end() && it->second == entry.module->id()) by_inode_.erase(it);
}

void ModuleRegistry::drop(ModuleId id) {
  const auto it = modules_.find(id);
  Entry& entry = it->second;
  forget_inode(entry);
  if (!entry.module->build_id().empty()) {
    by_build_id_.erase(entry.module->build_id().bytes);
  } else {
    by_identity_.erase(without_ctime(entry.module->identity()));
  }
  if (entry.has_open_place) open_order_.erase(entry.open_place);
  unused_.erase(entry.unused_place);
  modules_.erase(it);
}

std::shared_ptr<const ProcessRoot> ModuleRegistry::root_of(uint32_t pid) {
  const std::string base = fmt::format("{}/{}", options_.proc_root, pid);
  struct stat info {};
  RootKey key;
  if (::stat((base + "/ns/mnt").c_str(), &info) != 0) return nullptr;
  key.mount_namespace = info.st_ino;
  if (::stat((base + "/root").c_str(), &info) != 0) return nullptr;
  key.device = info.st_dev;
  key.inode = info.st_ino;
  if (key == own_root_) return nullptr;
  if (const auto it = roots_.find(key); it != roots_.end()) {
    if (auto root = it->second.lock()) return root;
  }
  std::erase_if(roots_, [](const auto& item) { return item.second.expired(); });
  if (roots_.size() >= options_.max_roots) return nullptr;
  auto root = std::make_shared<ProcessRoot>();
  root->fd = UniqueFd(::open((base + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  root->mount_namespace = key.mount_namespace;
  if (!root->fd.valid()) return nullptr;
  roots_[key] = root;
  return root;
}

size_t ModuleRegistry::memory_bytes() const {
  // A name, a build id, some segments and the nodes of five indexes: near enough.
  constexpr size_t kPerModule = 1024;
  return modules_.size() * kPerModule;
}

}  // namespace vesta::agent
