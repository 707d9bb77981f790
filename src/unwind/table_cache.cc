#include "unwind/table_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "unwind/cfi_section.h"
#include "unwind/code_frames.h"

namespace vesta {
namespace {

constexpr char kMagic[8] = {'V', 'E', 'S', 'T', 'A', 'U', 'W', 'T'};
// Changes with the layout of the file or of tables, and with what is built from the same input.
constexpr uint32_t kVersion = 7;
constexpr std::string_view kSuffix = ".unwind";
constexpr std::string_view kTemporaryPrefix = ".writing-";
constexpr time_t kStaleTemporarySeconds = 3600;
constexpr uint64_t kMaxRanges = kMaxDecodedBytes / kMinDecodedRange;
constexpr uint64_t kMaxCells =
    (uint64_t{kMaxUnwindPages} + 2) / 2 + (uint64_t{kMaxUnwindRows} + 1) / 2 + VESTA_MAX_RULES;

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t fingerprint_high;
  uint64_t fingerprint_low;
  vesta_module module;
  uint64_t unsupported_rows;
  uint64_t lost_bp_rows;
  uint64_t skipped_functions;
  uint64_t cell_count;
  uint64_t range_count;
  uint64_t code_high;  // fingerprint of the code in those ranges
  uint64_t code_low;
  uint64_t checksum;  // of this header, with 0 here, and of what follows
};
static_assert(sizeof(FileHeader) == 128 && std::is_trivially_copyable_v<FileHeader>);

size_t range_bytes(const UnwindTable& table) {
  return table.decoded.size() * sizeof(CodeRange);
}

uint64_t checksum_of(FileHeader header, const UnwindTable& table) {
  header.checksum = 0;
  const uint64_t parts[] = {
      hash64({reinterpret_cast<const char*>(&header), sizeof(header)}),
      hash64({reinterpret_cast<const char*>(table.cells.data()), table.bytes()}),
      hash64({reinterpret_cast<const char*>(table.decoded.data()), range_bytes(table)})};
  return hash64({reinterpret_cast<const char*>(parts), sizeof(parts)});
}

Error invalid_file(std::string_view why) {
  return {ErrorCode::kInvalidInput, fmt::format("invalid unwind table in the cache: {}", why), {}};
}

// Owned by us or by root, and nobody else may write.
bool is_trusted(const struct stat& info) {
  return (info.st_uid == ::geteuid() || info.st_uid == 0) &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string file_name(const ElfFile& file, const Hash128& fingerprint) {
  std::string id = file.build_id().hex();
  if (id.empty()) id = fmt::format("{:016x}{:016x}", fingerprint.high, fingerprint.low);
  return id + std::string(kSuffix);
}

}  // namespace

Hash128 table_fingerprint(const ElfFile& file, const ElfFile* debug_file) {
  std::string text;
  const auto add = [&](std::string_view bytes) {
    const Hash128 hash = hash128(bytes);
    text.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
  };
  const auto add_section = [&](const ElfFile& from, std::string_view name, bool by_content) {
    const ElfSection* section = from.section(name);
    const uint64_t place[] = {section == nullptr ? 0 : section->address,
                              section == nullptr ? 0 : section->size};
    text.append(reinterpret_cast<const char*>(place), sizeof(place));
    if (section != nullptr && by_content) add(section->bytes);
  };
  const uint64_t entry = file.entry();
  text.append(reinterpret_cast<const char*>(&entry), sizeof(entry));
  const auto segments = file.segments();
  add({reinterpret_cast<const char*>(segments.data()), segments.size_bytes()});
  add(find_eh_frame(file).bytes);
  for (const std::string_view name : {".debug_frame", ".zdebug_frame", ".gopclntab"}) {
    add_section(file, name, true);
  }
  // Addresses may be relative to these; what is in them does not matter.
  for (const std::string_view name : {".eh_frame", ".text", ".got", ".got.plt"}) {
    add_section(file, name, false);
  }
  // Without sections, Go's function table could be anywhere.
  if (file.sections().empty()) add(file.bytes());
  for (const std::string_view name : {".debug_frame", ".zdebug_frame"}) {
    if (debug_file != nullptr) add_section(*debug_file, name, true);
  }
  return hash128(text);
}

std::string encode_table(const UnwindTable& table, const Hash128& fingerprint) {
  FileHeader header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.header_bytes = sizeof(header);
  header.fingerprint_high = fingerprint.high;
  header.fingerprint_low = fingerprint.low;
  header.module = table.header;
  header.unsupported_rows = table.unsupported_rows;
  header.lost_bp_rows = table.lost_bp_rows;
  header.skipped_functions = table.skipped_functions;
  header.cell_count = table.cells.size();
  header.range_count = table.decoded.size();
  header.code_high = table.decoded_fingerprint.high;
  header.code_low = table.decoded_fingerprint.low;
  header.checksum = checksum_of(header, table);
  std::string out;
  out.reserve(sizeof(header) + table.bytes() + range_bytes(table));
  out.append(reinterpret_cast<const char*>(&header), sizeof(header));
  out.append(reinterpret_cast<const char*>(table.cells.data()), table.bytes());
  out.append(reinterpret_cast<const char*>(table.decoded.data()), range_bytes(table));
  return out;
}

Result<UnwindTable> decode_table(std::string_view bytes, const Hash128& fingerprint) {
  FileHeader header{};
  if (bytes.size() < sizeof(header)) return invalid_file("too short");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    return invalid_file("of another format");
  if (header.version != kVersion || header.header_bytes != sizeof(header)) {
    return invalid_file("of another version");
  }
  if (header.fingerprint_high != fingerprint.high || header.fingerprint_low != fingerprint.low) {
    return invalid_file("of another file");
  }
  bytes.remove_prefix(sizeof(header));
  if (header.cell_count > kMaxCells || header.range_count > kMaxRanges ||
      bytes.size() !=
          header.cell_count * sizeof(uint64_t) + header.range_count * sizeof(CodeRange)) {
    return invalid_file("of the wrong size");
  }
  UnwindTable table;
  table.header = header.module;
  table.unsupported_rows = header.unsupported_rows;
  table.lost_bp_rows = header.lost_bp_rows;
  table.skipped_functions = header.skipped_functions;
  table.cells.resize(header.cell_count);
  if (!table.cells.empty()) std::memcpy(table.cells.data(), bytes.data(), table.bytes());
  table.decoded.resize(header.range_count);
  if (!table.decoded.empty())
    std::memcpy(table.decoded.data(), bytes.data() + table.bytes(), range_bytes(table));
  table.decoded_fingerprint = {header.code_high, header.code_low};
  // After copying: the file may change under us.
  if (checksum_of(header, table) != header.checksum) return invalid_file("damaged");
  VESTA_TRY(validate(table));
  return table;
}

std::string UnwindTableCache::default_folder() {
  // NOLINTBEGIN(concurrency-mt-unsafe): nobody changes the environment.
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/') {
    return std::string(cache) + "/vesta/unwind";
  }
  const char* home = std::getenv("HOME");
  // NOLINTEND(concurrency-mt-unsafe)
  if (::geteuid() != 0 && home != nullptr && home[0] == '/') {
    return std::string(home) + "/.cache/vesta/unwind";
  }
  return "/var/cache/vesta/unwind";
}

Result<UnwindTableCache> UnwindTableCache::open(const std::string& folder, const Limits& limits) {
  const std::filesystem::path path(folder);
  std::error_code ignored;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot create the folder {} for unwind tables: {}", folder,
                             std::strerror(errno)),
                 "use a folder that this user can write to"};
  }
  // Held open: whatever happens to the path later, this is the folder that was looked at.
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot open the folder {} for unwind tables: {}", folder,
                             std::strerror(errno)),
                 "use a folder that this user can write to, not a symbolic link"};
  }
  if (!is_trusted(info)) {
    return Error{
        ErrorCode::kPermission,
        fmt::format("other users can write to {}, so its unwind tables cannot be trusted", folder),
        "make it private (chown, chmod 700) or use another folder"};
  }
  return UnwindTableCache(std::move(fd), limits);
}

Result<UnwindTable> UnwindTableCache::table_of(const ElfFile& file, const ElfFile* debug_file,
                                               Key* key) {
  const Hash128 fingerprint = table_fingerprint(file, debug_file);
  const std::string name = file_name(file, fingerprint);
  if (key != nullptr) *key = {name, fingerprint};
  if (auto cached = load({name, fingerprint}, &file)) {
    ++counts_.hits;
    return std::move(*cached);
  }
  ++counts_.misses;
  VESTA_ASSIGN(UnwindTable table, build_unwind_table(file, debug_file));
  // One file must not push out all others.
  const uint64_t bytes = sizeof(FileHeader) + table.bytes() + range_bytes(table);
  if (table.bytes() <= limits_.max_bytes / 4 && store(name, encode_table(table, fingerprint))) {
    ++counts_.stored;
    if (bytes > room_) {
      evict();
    } else {
      room_ -= bytes;
    }
  } else {
    ++counts_.not_stored;
  }
  return table;
}

std::optional<UnwindTable> UnwindTableCache::find(const Key& key) {
  auto cached = load(key, nullptr);
  if (cached) ++counts_.hits;
  return cached;
}

std::optional<UnwindTable> UnwindTableCache::load(const Key& key, const ElfFile* of) {
  const UniqueFd fd(
      ::openat(folder_.get(), key.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode) || !is_trusted(info)) {
    ++counts_.rejected;
    return std::nullopt;
  }
  const auto file = InputFile::from_fd(
      fd.get(), sizeof(FileHeader) + kMaxCells * sizeof(uint64_t) + kMaxRanges * sizeof(CodeRange));
  auto table =
      file ? decode_table(file->bytes(), key.fingerprint) : Result<UnwindTable>(file.error());
  if (!table ||
      (of != nullptr && table->decoded_fingerprint != decoded_fingerprint(*of, table->decoded))) {
    ++counts_.rejected;
    return std::nullopt;
  }
  ::futimens(fd.get(), nullptr);  // used now: last to be evicted
  return std::move(table).value();
}

bool UnwindTableCache::store(const std::string& name, std::string_view bytes) {
  const std::string temporary = fmt::format("{}{}-{}", kTemporaryPrefix, ::getpid(), name);
  ::unlinkat(folder_.get(), temporary.c_str(), 0);
  const UniqueFd fd(::openat(folder_.get(), temporary.c_str(),
                             O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) return false;
  if (write_all(fd.get(), bytes) &&
      ::renameat(folder_.get(), temporary.c_str(), folder_.get(), name.c_str()) == 0) {
    return true;
  }
  ::unlinkat(folder_.get(), temporary.c_str(), 0);
  return false;
}

void UnwindTableCache::evict() {
  struct Entry {
    timespec used;
    uint64_t bytes;
    std::string name;
  };
  // A second descriptor: reading a folder moves the position of the one it is read by.
  const int copy = ::openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(copy), &::closedir);
  if (folder == nullptr) {
    ::close(copy);
    return;
  }
  std::vector<Entry> entries;
  uint64_t total = 0;
  const time_t now = ::time(nullptr);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): of a DIR that no other thread has.
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    struct stat info {};
    if (::fstatat(folder_.get(), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (!S_ISREG(info.st_mode)) continue;
    if (name.starts_with(kTemporaryPrefix)) {
      if (info.st_mtime + kStaleTemporarySeconds < now) {
        ::unlinkat(folder_.get(), entry->d_name, 0);
      }
    } else if (name.ends_with(kSuffix)) {
      entries.push_back({info.st_mtim, static_cast<uint64_t>(info.st_size), std::string(name)});
      total += entries.back().bytes;
    }
  }
  if (total <= limits_.max_bytes) {
    // Half of it: others may store here, too.
    room_ = (limits_.max_bytes - total) / 2;
    return;
  }
  room_ = 0;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Entry& entry : entries) {
    if (total <= limits_.max_bytes) break;
    if (::unlinkat(folder_.get(), entry.name.c_str(), 0) != 0) continue;
    total -= entry.bytes;
    ++counts_.evicted;
  }
}

}  // namespace vesta
