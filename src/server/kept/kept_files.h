// What clients ask a server to keep besides profiles: settings, files uploaded to look at, debug
// information. One file on disk for each, in a folder for each tenant; it is whole and survives a
// power cut once put() has returned. Bounded: the oldest of a tenant make room for its new ones.
// Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace vesta::server {

struct KeptLimits {
  uint64_t tenant_count = 100;  // files of one tenant
  uint64_t tenant_bytes = 0;    // of one tenant
  uint64_t bytes = 0;           // of all tenants
};

struct KeptFile {
  std::string id;
  std::string note;  // what put() was given
  uint64_t bytes = 0;
  int64_t stored_ns = 0;  // Unix time
};

class KeptFiles {
 public:
  static constexpr size_t kMaxNoteBytes = 4096;

  // Makes the folder if need be, and finds what is in it. Files that are damaged are left alone and
  // not listed.
  static Result<std::unique_ptr<KeptFiles>> open(std::string folder, KeptLimits limits,
                                                 UnixClock clock = unix_now);

  // Replaces what the id stood for. kUsage unless the id is letters, digits, '-' and '_', up to 128
  // of them; kLimit when the file alone is too large; kTooMany when other tenants fill the rest.
  Result<KeptFile> put(std::string_view tenant, std::string_view id, std::string_view note,
                       std::string_view bytes);
  // kNotFound when there is none.
  Result<KeptFile> find(std::string_view tenant, std::string_view id) const;
  Result<std::string> read(std::string_view tenant, std::string_view id) const;
  // The oldest first.
  std::vector<KeptFile> list(std::string_view tenant) const;
  Status remove(std::string_view tenant, std::string_view id);

 private:
  using Files = std::map<std::string, KeptFile, std::less<>>;  // by id

  KeptFiles(std::string folder, KeptLimits limits, UnixClock clock);
  Status load();
  std::string folder_of(std::string_view tenant) const;
  std::string path_of(std::string_view tenant, std::string_view id) const;
  Status make_room(std::string_view tenant, std::string_view id, uint64_t bytes) REQUIRES(mutex_);
  void drop(Files& files, Files::iterator file, const std::string& path) REQUIRES(mutex_);

  const std::string folder_;
  const KeptLimits limits_;
  const UnixClock clock_;
  mutable Mutex mutex_;
  std::map<std::string, Files, std::less<>> tenants_ GUARDED_BY(mutex_);
  uint64_t bytes_ GUARDED_BY(mutex_) = 0;  // of all
};

}  // namespace vesta::server
