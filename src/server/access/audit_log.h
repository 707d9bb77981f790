// Who read or changed what: one line of JSON per request, in a file that is rotated by size, so
// that the whole is bounded. Refusals of callers that nobody knows go to a file and a queue of
// their own: whoever reaches the server can make as many of them as they like, and must not be able
// to push out what others did. Requests only put a line into a bounded queue; a thread of its own
// writes. When a queue is full, lines are dropped and counted, and the next line says how many.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/result.h"
#include "server/access/rotating_file.h"
#include "server/rpc/dispatcher.h"

namespace vesta::server {

struct AuditOptions {
  RotatingFileOptions known = {"", uint64_t{16} << 20, 5};
  RotatingFileOptions unknown = {"", uint64_t{4} << 20, 2};
  size_t max_queued = 10'000;  // of each

  // audit.log and refused.log in that directory.
  static AuditOptions in(const std::string& directory);
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
  // Whether it is a refusal that needs no token to be made.
  static bool is_of_unknown_caller(const RequestRecord& record);
  void note(const RequestRecord& record);

  uint64_t dropped() const { return dropped_; }
  uint64_t write_failures() const { return failures_; }

 private:
  struct Waiting {
    std::deque<std::string> lines;
    uint64_t gap = 0;  // dropped since the last line
  };
  AuditLog(size_t max_queued, RotatingFile known, RotatingFile unknown)
      : max_queued_(max_queued), known_(std::move(known)), unknown_(std::move(unknown)) {}
  void run();
  void write(RotatingFile& file, const std::deque<std::string>& lines);

  const size_t max_queued_;
  RotatingFile known_;    // of the thread
  RotatingFile unknown_;  // of the thread
  std::atomic<uint64_t> dropped_ = 0;
  std::atomic<uint64_t> failures_ = 0;
  Mutex lock_;
  CondVar wake_;
  Waiting known_waiting_ GUARDED_BY(lock_);
  Waiting unknown_waiting_ GUARDED_BY(lock_);
  bool stopping_ GUARDED_BY(lock_) = false;
  std::thread thread_;
};

}  // namespace vesta::server
