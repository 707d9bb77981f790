#include "agent/export/uploader.h"

#include <algorithm>

#include "base/mutex.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxReasons = 64;
constexpr size_t kMaxReasonBytes = 200;
constexpr const char* kOtherReasons = "other reasons";
constexpr int64_t kMinBackoffNs = 100'000'000;
constexpr uint32_t kMaxDoublings = 30;

// Servers put all kinds of things into their messages; these become names of metrics.
std::string cut(std::string_view reason) {
  size_t end = std::min(reason.size(), kMaxReasonBytes);
  while (end < reason.size() && end > 0 && (static_cast<uint8_t>(reason[end]) & 0xC0) == 0x80)
    --end;
  std::string out(reason.substr(0, end));
  for (char& c : out) {
    if (static_cast<uint8_t>(c) < 0x20) c = ' ';
  }
  return out;
}

}  // namespace

Uploader::Uploader(BatchQueue& queue, const PayloadCodec& codec, Sender& sender,
                   const UploaderOptions& options, const ExportClock& clock)
    : queue_(queue), codec_(codec), sender_(sender), options_(options), clock_(clock) {}

BootNs Uploader::step(Urgency urgency) {
  const BootNs start = clock_.boot_now();
  const BootNs due = urgency == Urgency::kNow ? asked_until_ : next_;
  if (start < due) return next_;
  while (const auto batch = queue_.front()) {
    const auto profiles = static_cast<uint32_t>(batch->profiles.size());
    if (!upload(*batch, batch->done, profiles - batch->done)) return next_;
  }
  next_ = start + options_.interval_ns;
  return next_;
}

// False when it has to be tried again later, from where it got to.
bool Uploader::upload(const QueuedBatch& batch, uint32_t first, uint32_t count) {
  for (const Payload& payload :
       codec_.encode(*batch.dictionary, batch.profiles.subspan(first, count))) {
    if (!upload_payload(batch, first, payload)) return false;
    first += payload.profiles;
  }
  return true;
}

bool Uploader::upload_payload(const QueuedBatch& batch, uint32_t first, const Payload& payload) {
  const uint32_t count = payload.profiles;
  const SendOutcome outcome = try_to_send(payload);
  if (outcome.kind == SendOutcome::Kind::kTooLarge && count > 1) {
    const uint32_t half = count / 2;
    return upload(batch, first, half) && upload(batch, first + half, count - half);
  }
  if (outcome.kind == SendOutcome::Kind::kRetry) {
    back_off(outcome);
    return false;
  }
  failures_in_a_row_ = 0;
  asked_until_ = {};
  // What had to make room for others meanwhile is counted as expired already.
  const bool counts = queue_.advance(batch.place, first + count);
  const bool is_sent = outcome.kind == SendOutcome::Kind::kSent;
  const uint32_t lost = is_sent ? std::min(outcome.rejected_profiles, count) : count;
  {
    const MutexLock guard(lock_);
    stats_.last_error = outcome.reason;
    stats_.failures_in_a_row = 0;
    if (counts) stats_.sent += count - lost;
  }
  if (counts) count_rejected(lost, outcome.reason);
  return counts;
}

SendOutcome Uploader::try_to_send(const Payload& payload) {
  {
    const MutexLock guard(lock_);
    ++stats_.attempts;
  }
  return sender_.send(payload);
}

void Uploader::back_off(const SendOutcome& outcome) {
  const uint32_t doublings = std::min(failures_in_a_row_++, kMaxDoublings);
  const int64_t most = std::min(options_.first_backoff_ns << doublings, options_.max_backoff_ns);
  auto wait = static_cast<int64_t>(clock_.random() * static_cast<double>(most));
  wait = std::max(wait, std::min(kMinBackoffNs, most));
  const BootNs now = clock_.boot_now();
  if (outcome.retry_after_ns >= 0) {
    const int64_t asked = std::min(outcome.retry_after_ns, options_.max_retry_after_ns);
    asked_until_ = now + asked;
    wait = std::max(wait, asked);
  }
  next_ = now + wait;
  const MutexLock guard(lock_);
  ++stats_.failures;
  stats_.failures_in_a_row = failures_in_a_row_;
  stats_.last_error = outcome.reason;
}

void Uploader::count_rejected(uint64_t count, std::string_view reason) {
  if (count == 0) return;
  const MutexLock guard(lock_);
  stats_.rejected += count;
  std::string key = cut(reason);
  auto& reasons = stats_.rejected_by_reason;
  if (reasons.size() >= kMaxReasons && !reasons.contains(key)) key = kOtherReasons;
  reasons[key] += count;
}

UploaderStats Uploader::stats() const {
  const MutexLock guard(lock_);
  return stats_;
}

}  // namespace vesta::agent
