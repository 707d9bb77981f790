// Who read or changed what: one line of JSON per request, in a file that is rotated by size, so
// that the whole is bounded. Refusals of callers that nobody knows go to a file and a queue of
// their own: whoever reaches the server can make as many of them as they like, and must not be able
// to push out what others did. Requests only put a line into a bounded queue; a thread of its own
// writes. When a queue is full, lines are dropped and counted, and the next line says how many.
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

#include "base/result.h"
#include "server/access/rotating_file.h"
#include "server/dispatcher.h"

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
  struct Lane {
    explicit Lane(RotatingFile opened) : file(std::move(opened)) {}
    RotatingFile file;              // of the thread
    std::deque<std::string> queue;  // guarded by lock_, as the rest
    uint64_t gap = 0;               // dropped since the last line
  };
  AuditLog(size_t max_queued, RotatingFile known, RotatingFile unknown)
      : max_queued_(max_queued), known_(std::move(known)), unknown_(std::move(unknown)) {}
  void run();
  void write(Lane& lane, const std::deque<std::string>& lines);

  const size_t max_queued_;
  Lane known_;
  Lane unknown_;
  std::atomic<uint64_t> dropped_ = 0;
  std::atomic<uint64_t> failures_ = 0;
  std::mutex lock_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by lock_
  std::thread thread_;
};

}  // namespace vesta::server
