// The files that people have opened, by tenant: in memory only, within bounds, the one that was not
// looked at for longest goes first, and every one an hour after its last use. Owns the files; a
// question that runs keeps its own. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "server/files/file_shelf_limits.h"
#include "server/files/opened_file.h"

namespace vesta::server {

class FileShelf {
 public:
  struct Options {
    FileShelfLimits limits;
    // What one file may hold; empty = the usual limits.
    std::function<TenantLimits(std::string_view tenant)> tenant_limits;
    UnixClock clock = unix_now;
  };
  explicit FileShelf(Options options) : options_(std::move(options)) {}

  using File = std::shared_ptr<const OpenedFile>;
  // Files of the same name and content are one. kTooMany while others are being read, otherwise as
  // open_file(), which `stop` is for.
  Result<File> open(std::string_view tenant, std::string_view name, std::string_view bytes,
                    const std::function<bool()>& stop = {});
  // A use. kNotFound with the hint to open it again.
  Result<File> find(std::string_view tenant, std::string_view id);
  // Those used last first; no use.
  std::vector<File> list(std::string_view tenant);
  Status close(std::string_view tenant, std::string_view id);
  // Lets those go that nobody used for long. Every other call does so, too.
  void expire();

 private:
  struct Entry {
    std::string tenant;
    int64_t used_ns = 0;
    File file;
  };
  using Entries = std::list<Entry>;  // those used last first

  class ReadingTurn;
  int64_t now_ns() const { return options_.clock().ns; }
  // What goes is added to `dropped`, which the caller destroys
  // without the lock: that takes its time.
  void expire_locked(int64_t now_ns, Entries& dropped) REQUIRES(mutex_);
  void make_room_locked(std::string_view tenant, uint64_t bytes, Entries& dropped) REQUIRES(mutex_);
  Entries::iterator find_locked(std::string_view tenant, std::string_view id) REQUIRES(mutex_);

  const Options options_;
  Mutex mutex_;
  Entries entries_ GUARDED_BY(mutex_);
  uint32_t reading_ GUARDED_BY(mutex_) = 0;
};

}  // namespace vesta::server
