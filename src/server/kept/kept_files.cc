#include "server/kept/kept_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/hex.h"

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
               "look at the space and the rights of the data directory"};
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

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return io_error("write", path, errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

// Whole and on disk, under a name of its own.
Result<std::string> write_temporary(const std::string& path, std::string_view head,
                                    std::string_view bytes) {
  std::string temporary = path + ".XXXXXX";
  const UniqueFd fd(::mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!fd.valid()) return io_error("write", path, errno);
  Status status = write_all(fd.get(), head, path);
  if (status.ok()) status = write_all(fd.get(), bytes, path);
  if (status.ok() && ::fsync(fd.get()) != 0) status = io_error("write", path, errno);
  if (status.ok()) return temporary;
  ::unlink(temporary.c_str());
  return std::move(status).error();
}

void sync_folder(const std::string& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.valid()) ::fsync(fd.get());
}

int64_t clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Error not_found(std::string_view id) {
  return Error{ErrorCode::kNotFound, fmt::format("there is no '{}'", id),
               "it was never uploaded, or newer ones took its place"};
}

}  // namespace

KeptFiles::KeptFiles(std::string folder, KeptLimits limits, std::function<int64_t()> now_ns)
    : folder_(std::move(folder)),
      limits_(limits),
      now_ns_(now_ns ? std::move(now_ns) : std::function<int64_t()>(clock_ns)) {}

Result<std::unique_ptr<KeptFiles>> KeptFiles::open(std::string folder, KeptLimits limits,
                                                   std::function<int64_t()> now_ns) {
  std::unique_ptr<KeptFiles> files(new KeptFiles(std::move(folder), limits, std::move(now_ns)));
  VESTA_TRY(files->load());
  return files;
}

Status KeptFiles::load() {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) return io_error("make", folder_, error.value());
  ::chmod(folder_.c_str(), 0700);
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
    return Error{ErrorCode::kTooMany, "other tenants fill the space that there is for such files",
                 "ask for more space, or delete some of them"};
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
                 fmt::format("up to {} are kept", kMaxNoteBytes)};
  }
  if (bytes.size() > std::min(limits_.tenant_bytes, limits_.bytes)) {
    return Error{
        ErrorCode::kLimit, fmt::format("{} bytes are too many to keep", bytes.size()),
        fmt::format("a tenant has {} for all", std::min(limits_.tenant_bytes, limits_.bytes))};
  }
  KeptFile file{std::string(id), std::string(note), bytes.size(), now_ns_()};
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
    const std::lock_guard lock(mutex_);
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
  const std::lock_guard lock(mutex_);
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
    const std::lock_guard lock(mutex_);
    const auto files = tenants_.find(tenant);
    if (files == tenants_.end()) return list;
    for (const auto& [id, file] : files->second) list.push_back(file);
  }
  std::ranges::stable_sort(list, {}, &KeptFile::stored_ns);
  return list;
}

Status KeptFiles::remove(std::string_view tenant, std::string_view id) {
  const std::lock_guard lock(mutex_);
  const auto files = tenants_.find(tenant);
  if (files == tenants_.end()) return not_found(id);
  const auto file = files->second.find(id);
  if (file == files->second.end()) return not_found(id);
  drop(files->second, file, path_of(tenant, id));
  return {};
}

}  // namespace vesta::server
