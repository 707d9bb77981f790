#include "symbols/debug_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <libdeflate.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace vesta {
namespace {

Error cannot_open(std::string_view path, int error_number) {
  Error error{
      ErrorCode::kIo, fmt::format("cannot open {}: {}", path, std::strerror(error_number)), {}};
  if (error_number == ENOENT || error_number == ENOTDIR) error.code = ErrorCode::kNotFound;
  if (error_number == EACCES || error_number == EPERM) error.code = ErrorCode::kPermission;
  return error;
}

// Without a handle that could be read: nothing happens to a device, and a FIFO cannot block.
Result<UniqueFd> find_below(const std::string& root, const std::string& path) {
  const UniqueFd folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return cannot_open(root, errno);
  struct open_how how {};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const long fd = ::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof(how));
  if (fd >= 0) return UniqueFd(static_cast<int>(fd));
  if (errno != ENOSYS) return cannot_open(path, errno);
  if (root != "/") {
    return Error{ErrorCode::kUnsupported, "this kernel cannot restrict links to a folder",
                 "use Linux 5.6 or newer"};
  }
  UniqueFd plain(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!plain.valid()) return cannot_open(path, errno);
  return plain;
}

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

}  // namespace

Result<InputFile> open_below(const std::string& root, std::string_view path, uint64_t max_bytes) {
  std::string absolute(path);
  if (!absolute.starts_with('/')) absolute.insert(0, 1, '/');
  VESTA_ASSIGN(const UniqueFd found, find_below(root, absolute));
  struct stat info {};
  if (::fstat(found.get(), &info) != 0) return cannot_open(path, errno);
  if (!S_ISREG(info.st_mode)) {
    return Error{ErrorCode::kInvalidInput, fmt::format("{} is not a regular file", path), {}};
  }
  // The same file that was looked at, whatever has taken its name meanwhile.
  const std::string again = fmt::format("/proc/self/fd/{}", found.get());
  const UniqueFd readable(::open(again.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!readable.valid()) return cannot_open(path, errno);
  return InputFile::from_fd(readable.get(), max_bytes);
}

uint32_t debug_link_crc(std::string_view bytes) {
  return libdeflate_crc32(0, bytes.data(), bytes.size());
}

AlternateLink alternate_link(const ElfFile& file) {
  AlternateLink link;
  const auto take = [&link](std::string_view text) {
    const size_t end = text.find('\0');
    if (end == std::string_view::npos) return;
    link.path = text.substr(0, end);
    link.build_id.bytes = text.substr(end + 1);
  };
  if (const ElfSection* section = file.section(".gnu_debugaltlink"); section != nullptr) {
    take(section->bytes);
  } else if (const ElfSection* sup = file.section(".debug_sup"); sup != nullptr) {
    // DWARF 5, 7.3.6: version, whether this is the shared file, its name, length and checksum.
    if (sup->bytes.size() > 3 && sup->bytes[2] == 0) {
      take(sup->bytes.substr(3));
      if (!link.build_id.empty()) link.build_id.bytes.erase(0, 1);
    }
  }
  if (link.build_id.bytes.size() < 8 || link.build_id.bytes.size() > 64) return {};
  return link;
}

DebugFiles::DebugFiles(Options options, Clock clock)
    : options_(std::move(options)), clock_(std::move(clock)) {}

DebugFile DebugFiles::recall(const std::string& key, bool& known) {
  known = false;
  const auto found = known_.find(key);
  if (found == known_.end()) return {};
  if (found->second.missing) {
    known = clock_() - found->second.since < options_.forget_missing_after;
    return {};
  }
  std::shared_ptr<const ElfFile> file = found->second.file.lock();
  known = file != nullptr;
  return {std::move(file), found->second.path};
}

void DebugFiles::remember(const std::string& key, const DebugFile& file) {
  if (known_.size() >= options_.max_remembered) known_.clear();
  known_[key] = {file.file, file.path, file.file == nullptr, clock_()};
}

DebugFile DebugFiles::try_path(const std::string& root, const std::string& path,
                               const Accept& accept) const {
  auto bytes = open_below(root, path, options_.max_file_bytes);
  if (!bytes) return {};
  auto file = ElfFile::parse(std::move(*bytes));
  if (!file || !accept(**file)) return {};
  return {*file, path};
}

DebugFile DebugFiles::find(const ElfFile& file, const std::string& path) {
  const BuildId& id = file.build_id();
  const std::string key = fmt::format("{}:{}", id.hex(), path);
  bool known = false;
  if (DebugFile before = recall(key, known); known) return before;
  DebugFile found;
  if (!id.empty()) {
    found = by_build_id(id, [&](const ElfFile& candidate) {
      return candidate.build_id() == id && candidate.machine() == file.machine();
    });
  }
  if (found.file == nullptr) found = by_debug_link(file, path);
  remember(key, found);
  return found;
}

DebugFile DebugFiles::by_build_id(const BuildId& id, const Accept& accept) const {
  const std::string hex = id.hex();
  const std::string path =
      fmt::format("/usr/lib/debug/.build-id/{}/{}.debug", hex.substr(0, 2), hex.substr(2));
  for (const std::string& root : options_.roots) {
    if (DebugFile found = try_path(root, path, accept); found.file != nullptr) return found;
  }
  return {};
}

DebugFile DebugFiles::by_debug_link(const ElfFile& file, const std::string& path) const {
  const ElfFile::DebugLink link = file.debug_link();
  // A name, not a path: what is in the file must not choose the folder.
  if (link.file.empty() || link.file.find('/') != std::string_view::npos || path.empty()) {
    return {};
  }
  const std::string folder = folder_of(path);
  const std::string candidates[] = {
      fmt::format("{}/{}", folder, link.file),
      fmt::format("{}/.debug/{}", folder, link.file),
      fmt::format("/usr/lib/debug{}/{}", folder, link.file),
  };
  const Accept accept = [&](const ElfFile& candidate) {
    if (candidate.machine() != file.machine()) return false;
    if (!file.build_id().empty() && !candidate.build_id().empty()) {
      return candidate.build_id() == file.build_id();
    }
    return debug_link_crc(candidate.bytes()) == link.crc;
  };
  for (const std::string& root : options_.roots) {
    for (const std::string& candidate : candidates) {
      if (candidate == path) continue;
      if (DebugFile found = try_path(root, candidate, accept); found.file != nullptr) return found;
    }
  }
  return {};
}

DebugFile DebugFiles::find_alternate(const ElfFile& debug_file, const std::string& path) {
  const AlternateLink link = alternate_link(debug_file);
  if (link.path.empty()) return {};
  // The path is absolute or relative to the debug file. The roots keep it where it may be.
  const std::string where = link.path.starts_with('/')
                                ? std::string(link.path)
                                : fmt::format("{}/{}", folder_of(path), link.path);
  const std::string key = fmt::format("alternate:{}:{}", link.build_id.hex(), where);
  bool known = false;
  if (DebugFile before = recall(key, known); known) return before;
  const Accept accept = [&](const ElfFile& candidate) {
    return candidate.build_id() == link.build_id;
  };
  DebugFile found = by_build_id(link.build_id, accept);
  for (size_t i = 0; i < options_.roots.size() && found.file == nullptr; ++i) {
    found = try_path(options_.roots[i], where, accept);
  }
  remember(key, found);
  return found;
}

}  // namespace vesta
