// A bounded queue of byte records in a folder: what push() returned for is there after kill -9 and
// after a power cut, in order; what was popped does not come back, except for the newest pop after
// a power cut. Owns the folder, which no other process may use meanwhile. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/export/queue/export_clock.h"
#include "agent/export/queue/queue_segment.h"
#include "base/file.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"

namespace vesta::agent {

struct DiskQueueOptions {
  std::string folder;  // made when it is not there
  uint64_t max_bytes = uint64_t{256} << 20;
  int64_t max_age_ns = kDay;
  uint64_t segment_bytes = 0;  // of one file, about; 0 = by max_bytes
};

struct QueueItem {
  uint32_t profiles = 0;
  std::string payload;
};
// Gives the record to be queued. Records may build on those before them in their file: `is_first`
// says that there are none.
using MakeRecord = std::function<QueueItem(bool is_first)>;

// Where a record stands; later ones are greater.
struct QueuePlace {
  uint64_t segment = 0;
  uint64_t offset = 0;
  friend auto operator<=>(const QueuePlace&, const QueuePlace&) = default;
};

struct QueuedRecord {
  QueuePlace place;
  uint32_t profiles = 0;
  uint32_t done = 0;  // of these profiles: what advance() said
  uint64_t next = 0;  // offset of the record after it
  std::string payload;
};

struct DiskQueueStats {
  uint64_t profiles = 0;            // now
  uint64_t bytes = 0;               // on disk, now
  uint64_t recovered_profiles = 0;  // were there when it was opened
  // Profiles that are gone, since it was opened:
  uint64_t expired_by_age = 0;
  uint64_t expired_by_size = 0;
  uint64_t damaged = 0;
  // Ends of files that a crash left half written; push() had not returned for them.
  uint64_t torn_records = 0;
};

class DiskQueue {
 public:
  // kIo when the folder cannot be used, kUnavailable when another process does. The clock must
  // outlive it.
  static Result<std::unique_ptr<DiskQueue>> open(const DiskQueueOptions& options,
                                                 const ExportClock& clock);
  ~DiskQueue();
  DiskQueue(const DiskQueue&) = delete;
  DiskQueue& operator=(const DiskQueue&) = delete;

  // kUnavailable when the disk is full, kLimit when the record is larger than the queue; nothing is
  // queued then, and `is_first` will hold for the next. The oldest records go when there is no
  // room. On disk when it returns.
  Status push(const MakeRecord& make);
  // `is_first` will hold for the next one.
  void start_new_segment();
  // The oldest record that is neither damaged nor too old; none when the queue is empty.
  std::optional<QueuedRecord> front();
  // `done` profiles of the record have been dealt with; all of them, and it is gone. False when it
  // was not at the front any more: it had to make room, and counts as expired.
  bool advance(const QueuePlace& place, uint32_t done);
  // The same for all of it, which turned out to be unusable: it counts as damaged.
  void drop(const QueuePlace& place);
  // The payloads of the records of that file from an offset (0 = the first) up to the place. False
  // when one of them is damaged.
  bool replay(uint64_t from_offset, const QueuePlace& to,
              const std::function<bool(std::string_view payload)>& visit);
  DiskQueueStats stats() const;

 private:
  struct Segment {
    uint64_t id = 0;
    uint64_t bytes = 0;
    uint64_t profiles = 0;  // from the read position on
  };

  DiskQueue(const DiskQueueOptions& options, const ExportClock& clock);
  Status load();
  void load_position() REQUIRES(lock_);
  Status load_segments() REQUIRES(lock_);
  UnixNs age_now(BootNs now) const REQUIRES(lock_);
  std::string path_of(uint64_t segment) const;

  Status open_segment() REQUIRES(lock_);
  Status append(std::string_view bytes) REQUIRES(lock_);
  void leave(const FoundRecord& found, uint64_t& counter) REQUIRES(lock_);
  Status make_room(const QueueItem& item) REQUIRES(lock_);
  void drop_front_segment() REQUIRES(lock_);
  std::string_view front_bytes() REQUIRES(lock_);
  void move_to(uint64_t offset) REQUIRES(lock_);
  void save_position() REQUIRES(lock_);

  const DiskQueueOptions options_;
  const uint64_t segment_bytes_;
  const ExportClock& clock_;
  mutable Mutex lock_;
  UniqueFd folder_fd_ GUARDED_BY(lock_);
  UniqueFd position_fd_ GUARDED_BY(lock_);
  UniqueFd write_fd_ GUARDED_BY(lock_);             // the last segment, when this process began it
  std::deque<Segment> segments_ GUARDED_BY(lock_);  // oldest first
  uint64_t next_segment_ GUARDED_BY(lock_) = 1;
  QueuePlace front_ GUARDED_BY(lock_);  // of segments_.front(), when there is one
  uint32_t front_done_ GUARDED_BY(lock_) = 0;
  std::optional<InputFile> mapped_ GUARDED_BY(lock_);  // segments_.front()
  uint64_t mapped_segment_ GUARDED_BY(lock_) = 0;
  uint64_t position_sequence_ GUARDED_BY(lock_) = 0;
  // Ages are of a clock of the queue's own: the wall's when it was opened, moved on by the machine's.
  UnixNs age_start_ GUARDED_BY(lock_);
  BootNs age_start_boot_ GUARDED_BY(lock_);
  DiskQueueStats stats_ GUARDED_BY(lock_);
};

}  // namespace vesta::agent
