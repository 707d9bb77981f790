#include "agent/export/queue/batch_queue.h"

namespace vesta::agent {
namespace {

// What a log being written may hold in memory; then another is begun.
constexpr size_t kMaxWriterBytes = size_t{8} << 20;

}  // namespace

Result<std::unique_ptr<BatchQueue>> BatchQueue::open(const DiskQueueOptions& options,
                                                     const ExportClock& clock) {
  VESTA_ASSIGN(auto queue, DiskQueue::open(options, clock));
  return std::unique_ptr<BatchQueue>(new BatchQueue(std::move(queue)));
}

Status BatchQueue::push(const ProfileBatch& batch) {
  if (writer_ && writer_->byte_size() > kMaxWriterBytes) queue_->start_new_segment();
  return queue_->push([&](bool is_first) {
    if (is_first || !writer_) writer_ = std::make_unique<BatchLogWriter>();
    return QueueItem{static_cast<uint32_t>(batch.profiles.size()), writer_->append(batch)};
  });
}

std::optional<QueuedBatch> BatchQueue::front() {
  while (const auto record = queue_->front()) {
    if (record->place == read_ || decode(*record)) {
      const std::vector<Profile>& profiles = reader_->profiles();
      return QueuedBatch{record->place, record->done, &reader_->dictionary(), profiles};
    }
    queue_->drop(record->place);
  }
  // Nothing to build on any more, and memory to give back.
  reader_.reset();
  read_ = {};
  return std::nullopt;
}

bool BatchQueue::decode(const QueuedRecord& record) {
  const bool goes_on =
      reader_ && read_.segment == record.place.segment && read_next_ <= record.place.offset;
  if (!goes_on) reader_ = std::make_unique<BatchLogReader>();
  const uint64_t from = goes_on ? read_next_ : 0;
  // Records that expired or were sent by an earlier run: those after them build on them.
  const bool is_read =
      queue_->replay(from, record.place,
                     [&](std::string_view payload) { return reader_->append(payload).ok(); }) &&
      reader_->append(record.payload).ok() && reader_->profiles().size() == record.profiles;
  if (!is_read) {
    reader_.reset();
    read_ = {};
    return false;
  }
  read_ = record.place;
  read_next_ = record.next;
  return true;
}

}  // namespace vesta::agent
