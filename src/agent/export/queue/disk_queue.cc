#include "agent/export/queue/disk_queue.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <vector>

#include "agent/export/queue/queue_position.h"
#include "base/mutex.h"

namespace vesta::agent {
namespace {

constexpr std::string_view kSegmentSuffix = ".seg";
constexpr uint64_t kMinSegmentBytes = uint64_t{64} << 10;
constexpr uint64_t kMaxSegmentBytes = uint64_t{8} << 20;
constexpr uint64_t kMaxSegmentFile = uint64_t{2} << 30;

uint64_t segment_size(const DiskQueueOptions& options) {
  if (options.segment_bytes != 0) return options.segment_bytes;
  return std::clamp(options.max_bytes / 16, kMinSegmentBytes, kMaxSegmentBytes);
}

bool is_disk_full(int error) {
  return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

Error queue_error(std::string_view what, const std::string& path, int error) {
  const bool full = is_disk_full(error);
  return {full ? ErrorCode::kUnavailable : ErrorCode::kIo,
          fmt::format("cannot {} {}: {}", what, path, std::strerror(error)),
          full ? "free some space; profiles already queued are safe"
               : "check the state folder and its permissions"};
}

// The number in "000000000000002a.seg".
std::optional<uint64_t> segment_of(std::string_view name) {
  if (name.size() != 16 + kSegmentSuffix.size() || !name.ends_with(kSegmentSuffix))
    return std::nullopt;
  uint64_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + 16, id, 16);
  if (error != std::errc() || end != name.data() + 16 || id == 0) return std::nullopt;
  return id;
}

}  // namespace

DiskQueue::DiskQueue(const DiskQueueOptions& options, const ExportClock& clock)
    : options_(options), segment_bytes_(segment_size(options)), clock_(clock) {}

DiskQueue::~DiskQueue() = default;

Result<std::unique_ptr<DiskQueue>> DiskQueue::open(const DiskQueueOptions& options,
                                                   const ExportClock& clock) {
  std::unique_ptr<DiskQueue> queue(new DiskQueue(options, clock));
  VESTA_TRY(queue->load());
  return queue;
}

std::string DiskQueue::path_of(uint64_t segment) const {
  return fmt::format("{}/{:016x}{}", options_.folder, segment, kSegmentSuffix);
}

Status DiskQueue::load() {
  const MutexLock guard(lock_);
  std::error_code made;
  std::filesystem::create_directories(options_.folder, made);
  // A link would lead the change of its mode elsewhere.
  folder_fd_ =
      UniqueFd(::open(options_.folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder_fd_.valid()) return queue_error("open the queue in", options_.folder, errno);
  // Profiles say what runs on a host: for its owner alone.
  ::fchmod(folder_fd_.get(), S_IRWXU);
  const std::string position = options_.folder + "/position";
  position_fd_ = UniqueFd(
      ::open(position.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
  if (!position_fd_.valid()) return queue_error("open", position, errno);
  if (::flock(position_fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("the queue in {} is in use by another process", options_.folder),
                 "stop the other agent, or give this one another state folder"};
  }
  load_position();
  return load_segments();
}

void DiskQueue::load_position() {
  char raw[2 * kPositionSlotBytes];
  const ssize_t size = ::pread(position_fd_.get(), raw, sizeof(raw), 0);
  const auto position = read_position({raw, static_cast<size_t>(std::max<ssize_t>(size, 0))});
  age_start_boot_ = clock_.boot_now();
  age_start_ = clock_.unix_now();
  if (!position) return;
  position_sequence_ = position->sequence;
  front_ = {position->segment, position->offset};
  front_done_ = static_cast<uint32_t>(std::min<uint64_t>(position->done, UINT32_MAX));
  next_segment_ = position->segment + 1;
  // In the same boot, time since then is known whatever was done to the clock. After another one
  // the clock has to be believed.
  const int64_t since = age_start_boot_ - position->boot_time;
  if (position->boot_id != 0 && position->boot_id == clock_.boot_id() && since >= 0)
    age_start_ = position->age_time + since;
}

Status DiskQueue::load_segments() {
  std::vector<uint64_t> ids;
  std::error_code error;
  for (std::filesystem::directory_iterator at(options_.folder, error), end; !error && at != end;
       at.increment(error)) {
    if (const auto id = segment_of(at->path().filename().string())) ids.push_back(*id);
  }
  if (error) return queue_error("list", options_.folder, error.value());
  std::ranges::sort(ids);
  UnixNs newest;
  for (const uint64_t id : ids) {
    next_segment_ = std::max(next_segment_, id + 1);
    if (id < front_.segment) {
      ::unlink(path_of(id).c_str());
      continue;
    }
    auto file = InputFile::open(path_of(id), kMaxSegmentFile);
    if (!file) return with_context(std::move(file).error(), "queue");
    const std::string_view bytes = file->bytes();
    Segment segment{id, bytes.size(), 0};
    size_t from = 0;
    if (id == front_.segment) from = std::min<uint64_t>(front_.offset, bytes.size());
    if (segments_.empty()) {
      if (id != front_.segment) front_done_ = 0;
      front_ = {id, from};
    }
    for (auto found = find_record(bytes, from, false); found.state == FoundRecord::State::kWhole;
         found = find_record(bytes, found.next, false)) {
      segment.profiles += found.head.profiles;
      newest = std::max(newest, found.head.time);
    }
    stats_.bytes += segment.bytes;
    stats_.profiles += segment.profiles;
    segments_.push_back(segment);
  }
  if (segments_.empty()) front_done_ = 0;
  const uint64_t done = std::min<uint64_t>(front_done_, stats_.profiles);
  stats_.profiles -= done;
  if (!segments_.empty()) segments_.front().profiles -= std::min(done, segments_.front().profiles);
  stats_.recovered_profiles = stats_.profiles;
  // Records from a clock that has been set back since are new, not of the future.
  age_start_ = std::max(age_start_, newest);
  save_position();
  return {};
}

UnixNs DiskQueue::age_now(BootNs now) const {
  return age_start_ + (now - age_start_boot_);
}

Status DiskQueue::push(const MakeRecord& make) {
  const MutexLock guard(lock_);
  if (write_fd_.valid() && segments_.back().bytes >= segment_bytes_) write_fd_.reset();
  bool is_first = !write_fd_.valid();
  QueueItem item = make(is_first);
  VESTA_TRY(make_room(item));
  // The file that it was made for may have been the oldest.
  if (!is_first && !write_fd_.valid()) {
    is_first = true;
    item = make(is_first);
    VESTA_TRY(make_room(item));
  }
  if (is_first) VESTA_TRY(open_segment());
  VESTA_TRY(append(encode_record(item.profiles, age_now(clock_.boot_now()), item.payload)));
  segments_.back().profiles += item.profiles;
  stats_.profiles += item.profiles;
  return {};
}

void DiskQueue::start_new_segment() {
  const MutexLock guard(lock_);
  write_fd_.reset();
}

Status DiskQueue::open_segment() {
  const std::string path = path_of(next_segment_);
  write_fd_ =
      UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
  if (!write_fd_.valid()) return queue_error("make", path, errno);
  if (!write_all(write_fd_.get(), kSegmentMagic) || ::fsync(folder_fd_.get()) != 0) {
    const int error = errno;
    write_fd_.reset();
    ::unlink(path.c_str());
    return queue_error("write", path, error);
  }
  const uint64_t id = next_segment_++;
  if (segments_.empty()) {
    front_ = {id, 0};
    front_done_ = 0;
  }
  segments_.push_back({id, kSegmentMagic.size(), 0});
  stats_.bytes += kSegmentMagic.size();
  return {};
}

Status DiskQueue::append(std::string_view bytes) {
  Segment& segment = segments_.back();
  if (write_all(write_fd_.get(), bytes) && ::fdatasync(write_fd_.get()) == 0) {
    segment.bytes += bytes.size();
    stats_.bytes += bytes.size();
    return {};
  }
  const int error = errno;
  // What may have got there is not promised to anybody: it goes. If not even that works, readers
  // see a torn end, which they know; nothing more is written behind it.
  (void)!::ftruncate(write_fd_.get(), static_cast<off_t>(segment.bytes));
  write_fd_.reset();
  return queue_error("write", path_of(segment.id), error);
}

Status DiskQueue::make_room(const QueueItem& item) {
  const uint64_t bytes = item.payload.size() + kRecordHeadBytes + kSegmentMagic.size();
  if (bytes > options_.max_bytes || item.payload.size() > kMaxPayloadBytes) {
    write_fd_.reset();
    return Error{ErrorCode::kLimit,
                 fmt::format("{} bytes are more than the queue of {} bytes can hold", bytes,
                             options_.max_bytes),
                 "raise the size of the exporter's queue"};
  }
  while (!segments_.empty() && stats_.bytes + bytes > options_.max_bytes) {
    stats_.expired_by_size += segments_.front().profiles;
    drop_front_segment();
  }
  return {};
}

void DiskQueue::drop_front_segment() {
  const Segment gone = segments_.front();
  if (segments_.size() == 1) write_fd_.reset();
  segments_.pop_front();
  stats_.bytes -= gone.bytes;
  stats_.profiles -= gone.profiles;
  mapped_.reset();
  front_ = {segments_.empty() ? gone.id + 1 : segments_.front().id, 0};
  front_done_ = 0;
  // The position first: should the file outlive a crash, nobody reads it again.
  save_position();
  ::unlink(path_of(gone.id).c_str());
}

std::string_view DiskQueue::front_bytes() {
  const Segment& segment = segments_.front();
  if (mapped_ && mapped_segment_ == segment.id && mapped_->bytes().size() >= segment.bytes)
    return mapped_->bytes().substr(0, segment.bytes);
  auto file = InputFile::open(path_of(segment.id), kMaxSegmentFile);
  if (!file) {
    mapped_.reset();
    return {};
  }
  mapped_ = std::move(file).value();
  mapped_segment_ = segment.id;
  return mapped_->bytes().substr(0, segment.bytes);
}

std::optional<QueuedRecord> DiskQueue::front() {
  const MutexLock guard(lock_);
  while (!segments_.empty()) {
    const std::string_view bytes = front_bytes();
    const FoundRecord found = find_record(bytes, front_.offset, true);
    Segment& segment = segments_.front();
    if (found.state == FoundRecord::State::kEnd) {
      // Profiles that were counted when it was opened and cannot be found any more.
      stats_.damaged += segment.profiles;
      drop_front_segment();
      continue;
    }
    if (found.offset != front_.offset) {
      if (found.skipped > 0) front_done_ = 0;
      front_.offset = found.offset;
    }
    const uint32_t left = found.head.profiles - std::min(front_done_, found.head.profiles);
    const bool is_torn = found.payload.size() != found.head.payload_bytes;
    const bool is_old = age_now(clock_.boot_now()) - found.head.time > options_.max_age_ns;
    if (is_torn) {
      ++stats_.torn_records;
      move_to(found.next);
    } else if (found.state == FoundRecord::State::kDamaged) {
      leave(found, stats_.damaged);
    } else if (is_old || left == 0) {
      leave(found, stats_.expired_by_age);
    } else {
      return QueuedRecord{front_, found.head.profiles, front_done_, found.next,
                          std::string(found.payload)};
    }
  }
  return std::nullopt;
}

// What is left of the record at the front is lost, and counted.
void DiskQueue::leave(const FoundRecord& found, uint64_t& counter) {
  Segment& segment = segments_.front();
  const uint32_t left = found.head.profiles - std::min(front_done_, found.head.profiles);
  const auto gone = std::min<uint64_t>(left, segment.profiles);
  segment.profiles -= gone;
  stats_.profiles -= gone;
  counter += gone;
  move_to(found.next);
}

void DiskQueue::drop(const QueuePlace& place) {
  const MutexLock guard(lock_);
  if (segments_.empty() || place != front_) return;
  const FoundRecord found = find_record(front_bytes(), front_.offset, false);
  if (found.state == FoundRecord::State::kWhole && found.offset == front_.offset)
    leave(found, stats_.damaged);
}

bool DiskQueue::replay(uint64_t from_offset, const QueuePlace& to,
                       const std::function<bool(std::string_view payload)>& visit) {
  const MutexLock guard(lock_);
  if (segments_.empty() || segments_.front().id != to.segment) return false;
  const std::string_view bytes = front_bytes();
  uint64_t at = from_offset;
  while (true) {
    const FoundRecord found = find_record(bytes, at, true);
    if (found.offset == to.offset) return true;
    if (found.state != FoundRecord::State::kWhole || found.skipped > 0 || found.offset > to.offset)
      return false;
    if (!visit(found.payload)) return false;
    at = found.next;
  }
}

bool DiskQueue::advance(const QueuePlace& place, uint32_t done) {
  const MutexLock guard(lock_);
  if (segments_.empty() || place != front_) return false;
  const FoundRecord found = find_record(front_bytes(), front_.offset, false);
  if (found.state != FoundRecord::State::kWhole || found.offset != front_.offset) return false;
  done = std::min(done, found.head.profiles);
  const uint64_t more = done > front_done_ ? done - front_done_ : 0;
  const uint64_t gone = std::min(more, segments_.front().profiles);
  segments_.front().profiles -= gone;
  stats_.profiles -= gone;
  if (done < found.head.profiles) {
    front_done_ = done;
    save_position();
  } else {
    move_to(found.next);
  }
  return true;
}

// Past a record. A file that has been read to its end goes, even the one being written: an idle
// queue takes no space.
void DiskQueue::move_to(uint64_t offset) {
  front_.offset = offset;
  front_done_ = 0;
  if (offset >= segments_.front().bytes) {
    drop_front_segment();
  } else {
    save_position();
  }
}

// Not synced: kill -9 leaves it, and after a power cut the newest records are sent once more.
void DiskQueue::save_position() {
  QueuePosition position;
  position.sequence = ++position_sequence_;
  position.segment = front_.segment;
  position.offset = front_.offset;
  position.done = front_done_;
  position.boot_id = clock_.boot_id();
  position.boot_time = clock_.boot_now();
  position.age_time = age_now(position.boot_time);
  const std::string slot = encode_position(position);
  const auto at = static_cast<off_t>((position.sequence & 1) * kPositionSlotBytes);
  // On a full disk the slots are there already; a write that fails anyway costs a repetition.
  (void)!::pwrite(position_fd_.get(), slot.data(), slot.size(), at);
}

DiskQueueStats DiskQueue::stats() const {
  const MutexLock guard(lock_);
  return stats_;
}

}  // namespace vesta::agent
