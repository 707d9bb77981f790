#include "server/kept/kept_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/hex.h"
#include "base/mutex.h"

namespace vesta::server {
namespace {

// "VKF1", length of the note, time: then the note, then the bytes.
constexpr std::string_view kMagic = "VKF1";
constexpr size_t kHeadBytes = 4 + 4 + 8;
constexpr size_t kMaxIdBytes = 128;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

Status check_id(std::string_view id) {
  if (!id.empty() && id.size() <= kMaxIdBytes && std::ranges::all_of(id, is_plain)) return {};
  return Error{ErrorCode::kUsage, "the id is not valid",
               fmt::format("use letters, digits, '-' and '_', up to {}", kMaxIdBytes)};
}

// Tenants may have marks in their names that mean something to a file system.
std::string folder_name(std::string_view tenant) {
  std::string name;
  for (const char c : tenant) {
    if (is_plain(c)) {
      name += c;
    } else {
      name += fmt::format("%{:02x}", static_cast<uint8_t>(c));
    }
  }
  return name;
}

std::string tenant_name(std::string_view folder) {
  std::string name;
  for (size_t i = 0; i < folder.size(); ++i) {
    if (folder[i] != '%' || i + 2 >= folder.size()) {
      name += folder[i];
      continue;
    }
    name += static_cast<char>(hex_digit(folder[i + 1]) * 16 + hex_digit(folder[i + 2]));
    i += 2;
  }
  return name;
}

Error io_error(std::string_view what, const std::string& path, int error) {
  return Error{error == ENOSPC || error == EDQUOT ? ErrorCode::kUnavailable : ErrorCode::kIo,
               fmt::format("cannot {} {}: {}", what, path, std::strerror(error)),
               "check the free space and the permissions of the data directory"};
}

template <class Number>
void append(std::string& to, Number number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof(number));
}
template <class Number>
Number number_at(std::string_view bytes, size_t at) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof(number));
  return number;
}

// What stands before the bytes; false when that is damaged. `file.bytes` is the length of the
// whole.
bool parse_head(std::string_view bytes, KeptFile& file) {
  if (bytes.size() < kHeadBytes || !bytes.starts_with(kMagic)) return false;
  const auto note_bytes = number_at<uint32_t>(bytes, 4);
  file.stored_ns = number_at<int64_t>(bytes, 8);
  if (note_bytes > KeptFiles::kMaxNoteBytes || bytes.size() < kHeadBytes + note_bytes) return false;
  file.note = bytes.substr(kHeadBytes, note_bytes);
  return true;
}

// Enough of a file to hold its head.
std::string read_start(const std::string& path, uint64_t& size) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  size = static_cast<uint64_t>(info.st_size);
  std::string start(std::min<uint64_t>(size, kHeadBytes + KeptFiles::kMaxNoteBytes), '\0');
  const ssize_t got = ::pread(fd.get(), start.data(), start.size(), 0);
  start.resize(got < 0 ? 0 : static_cast<size_t>(got));
  return start;
}

// Whole and on disk, under a name of its own.
Result<std::string> write_temporary(const std::string& path, std::string_view head,
                                    std::string_view bytes) {
  std::string temporary = path + ".XXXXXX";
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!fd.valid()) return io_error("write", path, errno);
  if (write_all(fd.get(), head) && write_all(fd.get(), bytes) && ::fsync(fd.get()) == 0)
    return temporary;
  const int error = errno;
  ::unlink(temporary.c_str());
  return io_error("write", path, error);
}

void sync_folder(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) ::fsync(fd.get());
}

Error not_found(std::string_view id) {
  return Error{ErrorCode::kNotFound, fmt::format("'{}' not found", id),
               "it was never uploaded, or was replaced by newer ones"};
}

}  // namespace

KeptFiles::KeptFiles(std::string folder, KeptLimits limits, UnixClock clock)
    : folder_(std::move(folder)), limits_(limits), clock_(std::move(clock)) {}

Result<std::unique_ptr<KeptFiles>> KeptFiles::open(std::string folder, KeptLimits limits,
                                                   UnixClock clock) {
  std::unique_ptr<KeptFiles> files(new KeptFiles(std::move(folder), limits, std::move(clock)));
  VESTA_TRY(files->load());
  return files;
}

Status KeptFiles::load() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return io_error("make", folder_, error.value());
  ::chmod(folder_.c_str(), 0700);
  const MutexLock lock(mutex_);
  for (std::filesystem::directory_iterator tenant(folder_, error), end; !error && tenant != end;
       tenant.increment(error)) {
    if (!tenant->is_directory(error)) continue;
    Files& files = tenants_[tenant_name(tenant->path().filename().string())];
    std::error_code inner;
    for (std::filesystem::directory_iterator entry(tenant->path(), inner); !inner && entry != end;
         entry.increment(inner)) {
      KeptFile file;
      file.id = entry->path().filename().string();
      // A dot: what a crash left of a write.
      if (!check_id(file.id).ok()) {
        std::filesystem::remove(entry->path(), inner);
        inner.clear();
        continue;
      }
      uint64_t size = 0;
      if (!parse_head(read_start(entry->path().string(), size), file)) continue;
      file.bytes = size - kHeadBytes - file.note.size();
      bytes_ += file.bytes;
      files.emplace(file.id, std::move(file));
    }
    if (inner) return io_error("read", tenant->path().string(), inner.value());
  }
  if (error) return io_error("read", folder_, error.value());
  return {};
}

std::string KeptFiles::folder_of(std::string_view tenant) const {
  return folder_ + "/" + folder_name(tenant);
}
std::string KeptFiles::path_of(std::string_view tenant, std::string_view id) const {
  return folder_of(tenant) + "/" + std::string(id);
}

void KeptFiles::drop(Files& files, Files::iterator file, const std::string& path) {
  ::unlink(path.c_str());
  bytes_ -= file->second.bytes;
  files.erase(file);
}

Status KeptFiles::make_room(std::string_view tenant, std::string_view id, uint64_t bytes) {
  Files& files = tenants_.try_emplace(std::string(tenant)).first->second;
  uint64_t own = 0;
  uint64_t count = 1;
  uint64_t replaced = 0;
  std::vector<Files::iterator> oldest;
  for (auto at = files.begin(); at != files.end(); ++at) {
    if (at->first == id) {
      replaced = at->second.bytes;
      continue;
    }
    own += at->second.bytes;
    ++count;
    oldest.push_back(at);
  }
  std::ranges::sort(oldest, {}, [](Files::iterator at) {
    return std::pair(at->second.stored_ns, std::string_view(at->first));
  });
  const uint64_t others = bytes_ - own - replaced;
  if (others + bytes > limits_.bytes) {
    return Error{ErrorCode::kTooMany, "other tenants use all the space for such files",
                 "raise the limit, or delete some files"};
  }
  for (const Files::iterator at : oldest) {
    if (count <= limits_.tenant_count && own + bytes <= limits_.tenant_bytes &&
        others + own + bytes <= limits_.bytes) {
      break;
    }
    own -= at->second.bytes;
    --count;
    drop(files, at, path_of(tenant, at->first));
  }
  return {};
}

Result<KeptFile> KeptFiles::put(std::string_view tenant, std::string_view id, std::string_view note,
                                std::string_view bytes) {
  VESTA_TRY(check_id(id));
  if (note.size() > kMaxNoteBytes) {
    return Error{ErrorCode::kLimit, fmt::format("a name of {} bytes is too long", note.size()),
                 fmt::format("the limit is {}", kMaxNoteBytes)};
  }
  if (bytes.size() > std::min(limits_.tenant_bytes, limits_.bytes)) {
    return Error{
        ErrorCode::kLimit, fmt::format("{} bytes exceed the limit", bytes.size()),
        fmt::format("the limit of a tenant is {}", std::min(limits_.tenant_bytes, limits_.bytes))};
  }
  KeptFile file{std::string(id), std::string(note), bytes.size(), clock_().ns};
  std::string head(kMagic);
  append(head, static_cast<uint32_t>(note.size()));
  append(head, file.stored_ns);
  head += note;
  const std::string folder = folder_of(tenant);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return io_error("make", folder, error.value());
  const std::string path = path_of(tenant, id);
  VESTA_ASSIGN(const std::string temporary, write_temporary(path, head, bytes));
  {
    const MutexLock lock(mutex_);
    Status status = make_room(tenant, id, bytes.size());
    if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
      status = io_error("write", path, errno);
    if (!status.ok()) {
      ::unlink(temporary.c_str());
      return std::move(status).error();
    }
    KeptFile& known = tenants_.find(tenant)->second[file.id];
    bytes_ = bytes_ - known.bytes + file.bytes;
    known = file;
  }
  sync_folder(folder);
  return file;
}

Result<KeptFile> KeptFiles::find(std::string_view tenant, std::string_view id) const {
  const MutexLock lock(mutex_);
  const auto files = tenants_.find(tenant);
  if (files == tenants_.end()) return not_found(id);
  const auto file = files->second.find(id);
  if (file == files->second.end()) return not_found(id);
  return file->second;
}

Result<std::string> KeptFiles::read(std::string_view tenant, std::string_view id) const {
  VESTA_ASSIGN(const KeptFile known, find(tenant, id));
  const std::string path = path_of(tenant, id);
  // May have been replaced or dropped since; either file is whole.
  VESTA_ASSIGN(const InputFile file,
               InputFile::open(path, limits_.tenant_bytes + kHeadBytes + kMaxNoteBytes));
  KeptFile head;
  if (!parse_head(file.bytes(), head)) {
    return Error{ErrorCode::kIo, fmt::format("{} is damaged", path), "upload it again"};
  }
  return std::string(file.bytes().substr(kHeadBytes + head.note.size()));
}

std::vector<KeptFile> KeptFiles::list(std::string_view tenant) const {
  std::vector<KeptFile> list;
  {
    const MutexLock lock(mutex_);
    const auto files = tenants_.find(tenant);
    if (files == tenants_.end()) return list;
    for (const auto& [id, file] : files->second) list.push_back(file);
  }
  std::ranges::stable_sort(list, {}, &KeptFile::stored_ns);
  return list;
}

Status KeptFiles::remove(std::string_view tenant, std::string_view id) {
  const MutexLock lock(mutex_);
  const auto files = tenants_.find(tenant);
  if (files == tenants_.end()) return not_found(id);
  const auto file = files->second.find(id);
  if (file == files->second.end()) return not_found(id);
  drop(files->second, file, path_of(tenant, id));
  return {};
}

}  // namespace vesta::server
