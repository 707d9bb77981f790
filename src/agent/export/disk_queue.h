// A bounded queue of byte records in a folder: what push() returned for is there after kill -9 and
// after a power cut, in order; what was popped does not come back, except for the newest pop after
// a power cut. Owns the folder, which no other process may use meanwhile. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "agent/export/export_clock.h"
#include "agent/export/queue_segment.h"
#include "base/file.h"
#include "base/result.h"

namespace vesta::agent {

struct DiskQueueOptions {
  std::string folder;  // made when it is not there
  uint64_t max_bytes = uint64_t{256} << 20;
  int64_t max_age_ns = int64_t{24} * 3600 * 1'000'000'000;
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
  void load_position();
  Status load_segments();
  int64_t age_now() const;
  std::string path_of(uint64_t segment) const;

  Status open_segment();
  Status append(std::string_view bytes);
  void leave(const FoundRecord& found, uint64_t& counter);
  Status make_room(const QueueItem& item);
  void drop_front_segment();
  std::string_view front_bytes();
  void move_to(uint64_t offset);
  void save_position();

  const DiskQueueOptions options_;
  const uint64_t segment_bytes_;
  const ExportClock& clock_;
  mutable std::mutex lock_;  // guards all below
  UniqueFd folder_fd_;
  UniqueFd position_fd_;
  UniqueFd write_fd_;             // the last segment, when this process began it
  std::deque<Segment> segments_;  // oldest first
  uint64_t next_segment_ = 1;
  QueuePlace front_;  // of segments_.front(), when there is one
  uint32_t front_done_ = 0;
  std::optional<InputFile> mapped_;  // segments_.front()
  uint64_t mapped_segment_ = 0;
  uint64_t position_sequence_ = 0;
  int64_t age_start_ns_ = 0;
  int64_t age_start_boot_ns_ = 0;
  DiskQueueStats stats_;
};

}  // namespace vesta::agent
