#include "agent/export/in_process/in_process_exporter.h"

#include <algorithm>

namespace vesta::agent {
namespace {

constexpr std::string_view kTenant = "anonymous";

}  // namespace

// False when it should be tried again later.
bool InProcessExporter::write(const ProfileBatch& batch) {
  IngestHints hints;
  hints.protocol = IngestProtocol::kAgent;
  hints.partial = true;
  auto receipt = ingest_.write(kTenant, batch, hints);
  const MutexLock lock(mutex_);
  ++stats_.attempts;
  if (receipt.ok()) {
    stats_.last_error.clear();
    const uint64_t rejected = std::min<uint64_t>(receipt->rejected_profiles, batch.profiles.size());
    stats_.sent += batch.profiles.size() - rejected;
    stats_.rejected += rejected;
    if (rejected == 0) return true;
    const std::string reason =
        receipt->problems.empty() ? "refused by the store" : receipt->problems.front().message;
    stats_.lost_by_reason[reason] += rejected;
    stats_.last_error = reason;
    return true;
  }
  const Error& error = receipt.error();
  stats_.last_error = error.message;
  if (error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTooMany ||
      error.code == ErrorCode::kIo) {
    ++stats_.failures;
    return false;
  }
  stats_.rejected += batch.profiles.size();
  stats_.lost_by_reason[error.message] += batch.profiles.size();
  return true;
}

void InProcessExporter::write_waiting() {
  while (!waiting_.empty() && write(waiting_.front())) waiting_.pop_front();
}

Status InProcessExporter::take(const ProfileBatch& batch) {
  const MutexLock writing(writing_);
  {
    const MutexLock lock(mutex_);
    stats_.taken += batch.profiles.size();
  }
  write_waiting();
  // In order.
  if (waiting_.empty() && write(batch)) return {};
  waiting_.push_back(batch);
  if (waiting_.size() <= max_waiting_) return {};
  const uint64_t lost = waiting_.front().profiles.size();
  waiting_.pop_front();
  const MutexLock lock(mutex_);
  stats_.expired += lost;
  stats_.lost_by_reason["the store accepted no writes for too long"] += lost;
  return Error{ErrorCode::kUnavailable, "the store accepts no writes: " + stats_.last_error, ""};
}

ExporterStats InProcessExporter::stats() const {
  const MutexLock lock(mutex_);
  ExporterStats stats = stats_;
  stats.queued = stats.taken - stats.sent - stats.rejected - stats.expired;
  return stats;
}

void InProcessExporter::flush(std::chrono::steady_clock::time_point /*deadline*/) {
  const MutexLock writing(writing_);
  write_waiting();
}

}  // namespace vesta::agent
