#include "agent/stream/sample_queue.h"

#include <map>
#include <utility>

#include "base/mutex.h"

namespace vesta::agent {
namespace {

uint64_t bytes_of(const ResolvedSamples& samples) {
  return samples.samples.size() * sizeof(ResolvedSample) +
         samples.frames.size() * sizeof(CodeAddress);
}

// Of the first sample: they are nearly in order. 0 without one.
uint64_t time_of(const ResolvedSamples& samples) {
  return samples.samples.empty() ? 0 : samples.samples.front().time_ns;
}

}  // namespace

void SampleQueue::push(ResolvedSamples samples) {
  const MutexLock guard(lock_);
  if (bytes_ + bytes_of(samples) > max_bytes_) {
    dropped_ += samples.samples.size();
    std::map<uint32_t, LostEvents> by_probe;
    for (const ResolvedSample& sample : samples.samples) {
      LostEvents& lost = by_probe[sample.probe];
      ++lost.count;
      lost.value += sample.values[1];
    }
    for (const auto& [probe, lost] : by_probe) {
      samples.lost.push_back(
          {probe, std::string(kDropped), lost.count, time_of(samples), lost.value});
    }
    samples.samples.clear();
    samples.frames.clear();
  }
  bytes_ += bytes_of(samples);
  batches_.push_back(std::move(samples));
  wake_.notify_one();
}

std::optional<ResolvedSamples> SampleQueue::pop(std::chrono::milliseconds longest) {
  MutexLock guard(lock_);
  wake_.wait_for(guard, longest,
                 [this]() REQUIRES(lock_) { return !batches_.empty() || is_closed_; });
  if (batches_.empty()) return std::nullopt;
  ResolvedSamples batch = std::move(batches_.front());
  batches_.pop_front();
  bytes_ -= bytes_of(batch);
  popped_ns_ = time_of(batch);
  return batch;
}

void SampleQueue::done() {
  const MutexLock guard(lock_);
  popped_ns_ = 0;
}

uint64_t SampleQueue::oldest_ns() const {
  const MutexLock guard(lock_);
  if (popped_ns_ != 0) return popped_ns_;
  for (const ResolvedSamples& batch : batches_) {
    if (!batch.samples.empty()) return time_of(batch);
  }
  return 0;
}

void SampleQueue::close() {
  const MutexLock guard(lock_);
  is_closed_ = true;
  wake_.notify_all();
}

bool SampleQueue::is_done() const {
  const MutexLock guard(lock_);
  return is_closed_ && batches_.empty();
}

uint64_t SampleQueue::dropped() const {
  const MutexLock guard(lock_);
  return dropped_;
}

}  // namespace vesta::agent
