// Empties a queue: one record after the other, in order, each once, at the pace that the other side
// and the upload interval allow. Has no thread and never waits: whoever owns it calls step() when
// it says. Refers to its parts, which must outlive it. One thread, but for stats().
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "agent/export/codecs/payload.h"
#include "agent/export/queue/batch_queue.h"
#include "agent/export/queue/export_clock.h"
#include "base/mutex.h"
#include "base/time.h"

namespace vesta::agent {

struct UploaderOptions {
  int64_t interval_ns = 10 * kSecond;
  // After the nth failure in a row, a random part of the first times 2^n, but at most the second.
  int64_t first_backoff_ns = kSecond;
  int64_t max_backoff_ns = kMinute;
  // A server may ask for more patience than that, within reason.
  int64_t max_retry_after_ns = kHour;
};

struct UploaderStats {
  uint64_t sent = 0;
  uint64_t rejected = 0;
  uint64_t attempts = 0;
  uint64_t failures = 0;
  uint32_t failures_in_a_row = 0;
  std::map<std::string, uint64_t> rejected_by_reason;
  std::string last_error;
};

class Uploader {
 public:
  Uploader(BatchQueue& queue, const PayloadCodec& codec, Sender& sender,
           const UploaderOptions& options, const ExportClock& clock);

  enum class Urgency : uint8_t {
    kWhenDue,  // by the interval and the back-off
    kNow,      // but not before a time that the other side asked for
  };
  // Sends until the queue is empty or a payload did not get through. Returns when to call again.
  BootNs step(Urgency urgency);
  // Whether the last thing that was tried did not get through.
  bool is_backing_off() const { return failures_in_a_row_ > 0; }
  UploaderStats stats() const;
  // `count` profiles will never get there, and why. The number of reasons is bounded.
  void count_rejected(uint64_t count, std::string_view reason);

 private:
  bool upload(const QueuedBatch& batch, uint32_t first, uint32_t count);
  bool upload_payload(const QueuedBatch& batch, uint32_t first, const Payload& payload);
  SendOutcome try_to_send(const Payload& payload);
  void back_off(const SendOutcome& outcome);

  BatchQueue& queue_;
  const PayloadCodec& codec_;
  Sender& sender_;
  const UploaderOptions options_;
  const ExportClock& clock_;
  BootNs next_;         // not before that
  BootNs asked_until_;  // the other side's wish, which even kNow respects
  uint32_t failures_in_a_row_ = 0;
  mutable Mutex lock_;
  UploaderStats stats_ GUARDED_BY(lock_);
};

}  // namespace vesta::agent
