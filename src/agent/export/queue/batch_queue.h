// A queue of batches on disk: what is in it is the profiles themselves, not anybody's payload, so
// that a protocol can cut them as it needs to, and a day of them stays small (batch_log.h). Owns
// the queue. push() from one thread at a time; front(), advance() and what front() gave from one
// other.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "agent/export/queue/batch_log.h"
#include "agent/export/queue/disk_queue.h"
#include "base/result.h"
#include "profile/profile.h"

namespace vesta::agent {

struct QueuedBatch {
  QueuePlace place;
  uint32_t done = 0;  // profiles from the beginning that have been dealt with
  const Dictionary* dictionary = nullptr;
  std::span<const Profile> profiles;  // all of them
};

class BatchQueue {
 public:
  static Result<std::unique_ptr<BatchQueue>> open(const DiskQueueOptions& options,
                                                  const ExportClock& clock);

  // See DiskQueue for what can go wrong, and what holds when it returns.
  Status push(const ProfileBatch& batch);
  // The oldest batch; none when the queue is empty. It stays valid until the next call.
  std::optional<QueuedBatch> front();
  bool advance(const QueuePlace& place, uint32_t done) { return queue_->advance(place, done); }
  DiskQueueStats stats() const { return queue_->stats(); }

 private:
  explicit BatchQueue(std::unique_ptr<DiskQueue> queue) : queue_(std::move(queue)) {}
  bool decode(const QueuedRecord& record);

  const std::unique_ptr<DiskQueue> queue_;
  std::unique_ptr<BatchLogWriter> writer_;  // of the file being written
  // What has been read of the front file.
  std::unique_ptr<BatchLogReader> reader_;
  QueuePlace read_;         // the record read last
  uint64_t read_next_ = 0;  // where the one after it begins
};

}  // namespace vesta::agent
