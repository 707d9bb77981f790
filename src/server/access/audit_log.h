// Who read or changed what: one line of JSON per request, in a file that is rotated by size, so
// that the whole is bounded. Requests only put a line into a bounded queue; a thread of its own
// writes. When the queue is full, lines are dropped and counted, and the next line says how many.
// Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/file.h"
#include "base/result.h"
#include "server/dispatcher.h"

namespace vesta::server {

struct AuditOptions {
  std::string path;  // the newest; older ones are PATH.1, PATH.2 …
  uint64_t max_file_bytes = uint64_t{16} << 20;
  int files = 5;  // in all
  size_t max_queued = 10'000;
};

class AuditLog {
 public:
  static Result<std::unique_ptr<AuditLog>> open(const AuditOptions& options);
  // Writes what is queued.
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  // Reads, admin actions and refused attempts are noted; writes of profiles and health checks not.
  static bool wants(const RequestRecord& record);
  void note(const RequestRecord& record);

  uint64_t dropped() const { return dropped_; }
  uint64_t write_failures() const { return failures_; }

 private:
  explicit AuditLog(AuditOptions options) : options_(std::move(options)) {}
  Status open_file();
  void run();
  void append(const std::string& lines);
  void rotate();

  const AuditOptions options_;
  UniqueFd file_;         // of the thread
  uint64_t written_ = 0;  // to it
  std::atomic<uint64_t> dropped_ = 0;
  std::atomic<uint64_t> failures_ = 0;
  std::mutex lock_;
  std::condition_variable wake_;
  std::deque<std::string> queue_;  // guarded by lock_
  uint64_t gap_ = 0;               // guarded by lock_: dropped since the last line
  bool stopping_ = false;          // guarded by lock_
  std::thread thread_;
};

}  // namespace vesta::server
