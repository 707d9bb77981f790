#include "agent/recording/sample_queue.h"

#include <utility>

namespace vesta {
namespace {

uint64_t bytes_of(const ResolvedSamples& samples) {
  return samples.samples.size() * sizeof(ResolvedSample) +
         samples.frames.size() * sizeof(CodeAddress);
}

}  // namespace

void SampleQueue::push(ResolvedSamples samples) {
  const std::lock_guard guard(lock_);
  if (bytes_ + bytes_of(samples) > max_bytes_) {
    dropped_ += samples.samples.size();
    samples.samples.clear();
    samples.frames.clear();
  }
  bytes_ += bytes_of(samples);
  batches_.push_back(std::move(samples));
  wake_.notify_one();
}

std::optional<ResolvedSamples> SampleQueue::pop(std::chrono::milliseconds longest) {
  std::unique_lock guard(lock_);
  wake_.wait_for(guard, longest, [this] { return !batches_.empty() || is_closed_; });
  if (batches_.empty()) return std::nullopt;
  ResolvedSamples batch = std::move(batches_.front());
  batches_.pop_front();
  bytes_ -= bytes_of(batch);
  return batch;
}

void SampleQueue::close() {
  const std::lock_guard guard(lock_);
  is_closed_ = true;
  wake_.notify_all();
}

bool SampleQueue::is_done() const {
  const std::lock_guard guard(lock_);
  return is_closed_ && batches_.empty();
}

uint64_t SampleQueue::dropped() const {
  const std::lock_guard guard(lock_);
  return dropped_;
}

}  // namespace vesta
