#include "server/files/file_shelf.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/utf8.h"

namespace vesta::server {
namespace {

// Reading takes many times the memory of the file, and a processor.
constexpr uint32_t kMaxReading = 2;
constexpr size_t kMaxNameBytes = 200;

std::string shown_name(std::string_view name) {
  std::string shown = replace_invalid_utf8(name.substr(0, kMaxNameBytes));
  std::ranges::replace_if(
      shown, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return shown.empty() ? "profile" : shown;
}

Status check_size(std::string_view bytes, const TenantLimits& limits) {
  // The transport has undone a Content-Encoding, so that this is the larger of the two bounds.
  const uint64_t most = std::max(limits.max_body_bytes, limits.max_decoded_bytes);
  if (bytes.size() <= most) return {};
  return Error{ErrorCode::kLimit,
               fmt::format("the file has {} bytes; the limit is {}", bytes.size(), most),
               "raise limits.max_body_bytes, or use the vesta command line"};
}

}  // namespace

// One of the files that may be read at once.
class FileShelf::ReadingTurn {
 public:
  explicit ReadingTurn(FileShelf& shelf) : shelf_(shelf) {
    const MutexLock lock(shelf_.mutex_);
    has_turn_ = shelf_.reading_ < kMaxReading;
    if (has_turn_) ++shelf_.reading_;
  }
  ~ReadingTurn() {
    const MutexLock lock(shelf_.mutex_);
    if (has_turn_) --shelf_.reading_;
  }
  ReadingTurn(const ReadingTurn&) = delete;
  ReadingTurn& operator=(const ReadingTurn&) = delete;
  explicit operator bool() const { return has_turn_; }

 private:
  FileShelf& shelf_;
  bool has_turn_ = false;
};

void FileShelf::expire_locked(int64_t now_ns, Entries& dropped) {
  const int64_t oldest = saturating_subtract(now_ns, options_.limits.keep_ns);
  // A clock that was set back makes files look as if they were used in times to come.
  for (Entry& entry : entries_) entry.used_ns = std::min(entry.used_ns, now_ns);
  const auto first =
      std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.used_ns < oldest; });
  dropped.splice(dropped.end(), entries_, first, entries_.end());
}

void FileShelf::make_room_locked(std::string_view tenant, uint64_t bytes, Entries& dropped) {
  uint64_t files = 1;
  uint64_t of_tenant = bytes;
  uint64_t of_all = bytes;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto entry = at++;
    const uint64_t size = entry->file->bytes;
    const bool is_own = entry->tenant == tenant;
    const bool fits = of_all + size <= options_.limits.memory &&
                      (!is_own || (files < options_.limits.count &&
                                   of_tenant + size <= options_.limits.tenant_memory));
    if (!fits) {
      dropped.splice(dropped.end(), entries_, entry);
      continue;
    }
    of_all += size;
    of_tenant += is_own ? size : 0;
    files += is_own ? 1 : 0;
  }
}

FileShelf::Entries::iterator FileShelf::find_locked(std::string_view tenant, std::string_view id) {
  return std::ranges::find_if(
      entries_, [&](const Entry& entry) { return entry.tenant == tenant && entry.file->id == id; });
}

Result<FileShelf::File> FileShelf::open(std::string_view tenant, std::string_view name,
                                        std::string_view bytes, const std::function<bool()>& stop) {
  const FileShelfLimits& limits = options_.limits;
  if (limits.memory == 0 || limits.tenant_memory == 0 || limits.count == 0) {
    return Error{ErrorCode::kUnsupported, "opening files is disabled",
                 "set server.files.memory to enable it"};
  }
  const TenantLimits of_tenant =
      options_.tenant_limits ? options_.tenant_limits(tenant) : TenantLimits();
  VESTA_TRY(check_size(bytes, of_tenant));
  const std::string shown = shown_name(name);
  if (auto known = find(tenant, file_id(shown, bytes))) return known;
  const ReadingTurn turn(*this);
  if (!turn) {
    return Error{ErrorCode::kTooMany, "other files are being read", "try again in a moment"};
  }
  VESTA_ASSIGN(File file,
               open_file({tenant, shown, bytes, of_tenant,
                          std::min(limits.memory, limits.tenant_memory), now_ns(), stop}));
  Entries dropped;
  const MutexLock lock(mutex_);
  expire_locked(now_ns(), dropped);
  // Somebody may have opened the same in the meantime.
  if (const auto same = find_locked(tenant, file->id); same != entries_.end())
    dropped.splice(dropped.end(), entries_, same);
  make_room_locked(tenant, file->bytes, dropped);
  entries_.push_front({std::string(tenant), now_ns(), file});
  return file;
}

Result<FileShelf::File> FileShelf::find(std::string_view tenant, std::string_view id) {
  Entries dropped;
  const MutexLock lock(mutex_);
  const int64_t now = now_ns();
  expire_locked(now, dropped);
  const auto at = find_locked(tenant, id);
  if (at == entries_.end()) {
    return Error{ErrorCode::kNotFound, fmt::format("no file '{}' is open", id.substr(0, 64)),
                 "files are kept in memory for a limited time; open it again"};
  }
  at->used_ns = now;
  entries_.splice(entries_.begin(), entries_, at);
  return at->file;
}

std::vector<FileShelf::File> FileShelf::list(std::string_view tenant) {
  Entries dropped;
  const MutexLock lock(mutex_);
  expire_locked(now_ns(), dropped);
  std::vector<File> files;
  for (const Entry& entry : entries_) {
    if (entry.tenant == tenant) files.push_back(entry.file);
  }
  return files;
}

Status FileShelf::close(std::string_view tenant, std::string_view id) {
  VESTA_TRY(find(tenant, id));
  Entries dropped;
  const MutexLock lock(mutex_);
  if (const auto at = find_locked(tenant, id); at != entries_.end())
    dropped.splice(dropped.end(), entries_, at);
  return {};
}

void FileShelf::expire() {
  Entries dropped;
  const MutexLock lock(mutex_);
  expire_locked(now_ns(), dropped);
}

}  // namespace vesta::server
