#include "agent/export/queued_exporter.h"

#include <algorithm>

#include "base/mutex.h"

namespace vesta::agent {
namespace {

constexpr const char* kTooOld = "older than the queue keeps";
constexpr const char* kQueueFull = "queue full";
constexpr const char* kDamaged = "damaged on disk";

std::string reason_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kUnavailable:
      return "queue: disk full";
    case ErrorCode::kLimit:
      return "queue: larger than the whole queue";
    default:
      return "queue: cannot write";
  }
}

}  // namespace

QueuedExporter::QueuedExporter(std::string name, std::unique_ptr<BatchQueue> queue,
                               std::unique_ptr<PayloadCodec> codec, std::unique_ptr<Sender> sender,
                               const UploaderOptions& options, const ExportClock& clock)
    : name_(std::move(name)),
      queue_(std::move(queue)),
      codec_(std::move(codec)),
      sender_(std::move(sender)),
      clock_(clock),
      uploader_(*queue_, *codec_, *sender_, options, clock),
      thread_([this] { run(); }) {}

QueuedExporter::~QueuedExporter() {
  {
    const MutexLock guard(lock_);
    stopping_ = true;
  }
  changed_.notify_all();
  sender_->cancel();
  thread_.join();
}

Status QueuedExporter::take(const ProfileBatch& batch) {
  if (batch.profiles.empty()) return {};
  Status status = queue_->push(batch);
  {
    const MutexLock guard(lock_);
    taken_ += batch.profiles.size();
    if (!status) not_queued_[reason_of(status.error())] += batch.profiles.size();
  }
  if (!status) return with_context(std::move(status).error(), name_);
  return {};
}

void QueuedExporter::run() {
  MutexLock guard(lock_);
  while (!stopping_) {
    const uint64_t flushes = flushes_asked_;
    const bool is_flush = flushes != flushes_done_;
    guard.unlock();
    const BootNs next =
        uploader_.step(is_flush ? Uploader::Urgency::kNow : Uploader::Urgency::kWhenDue);
    guard.lock();
    if (is_flush) {
      flushes_done_ = flushes;
      changed_.notify_all();
    }
    if (stopping_ || flushes_asked_ != flushes_done_) continue;
    const std::chrono::nanoseconds left(std::max<int64_t>(next - clock_.boot_now(), 0));
    changed_.wait_for(guard, left, [&]() REQUIRES(lock_) {
      return stopping_ || flushes_asked_ != flushes_done_;
    });
  }
}

void QueuedExporter::flush(std::chrono::steady_clock::time_point deadline) {
  MutexLock guard(lock_);
  const uint64_t mine = ++flushes_asked_;
  changed_.notify_all();
  changed_.wait_until(guard, deadline,
                      [&]() REQUIRES(lock_) { return stopping_ || flushes_done_ >= mine; });
}

ExporterStats QueuedExporter::stats() const {
  ExporterStats out;
  const UploaderStats uploads = uploader_.stats();
  const DiskQueueStats queue = queue_->stats();
  out.sent = uploads.sent;
  out.rejected = uploads.rejected;
  out.attempts = uploads.attempts;
  out.failures = uploads.failures;
  out.failures_in_a_row = uploads.failures_in_a_row;
  out.last_error = uploads.last_error;
  out.lost_by_reason = uploads.rejected_by_reason;
  out.queued = queue.profiles;
  out.queued_bytes = queue.bytes;
  const auto expire = [&](const std::string& reason, uint64_t count) {
    out.expired += count;
    if (count > 0) out.lost_by_reason[reason] += count;
  };
  expire(kTooOld, queue.expired_by_age);
  expire(kQueueFull, queue.expired_by_size);
  expire(kDamaged, queue.damaged);
  const MutexLock guard(lock_);
  // What an earlier run left in the queue counts as taken by this one.
  out.taken = taken_ + queue.recovered_profiles;
  for (const auto& [reason, count] : not_queued_) expire(reason, count);
  return out;
}

}  // namespace vesta::agent
