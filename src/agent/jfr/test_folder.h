// Recordings for the tests here. Only for tests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "agent/jfr/jfr_folder.h"
#include "base/mutex.h"
#include "formats/jfr/test_batch.h"
#include "formats/jfr/test_recording.h"

namespace vesta::agent {

// A recording with as many samples as said; others than those of another count.
inline std::string recording(int samples, int file_state = 0) {
  jfr::TestChunk chunk;
  const int64_t thread = chunk.thread("main");
  const int64_t stack = chunk.stack({{chunk.method("com/example/Main", "work"), 42}});
  const int64_t state = chunk.state("STATE_RUNNABLE");
  for (int i = 0; i < samples; ++i) chunk.execution_sample(1000 + i, thread, stack, state);
  jfr::ChunkOptions options;
  options.file_state = file_state;
  return chunk.finish(options);
}

// What a folder handed on. Thread-safe.
class Received {
 public:
  JfrFolder::Ship ship() {
    return [this](ProfileBatch batch) -> Status {
      const MutexLock lock(mutex_);
      if (refuse_ > 0) {
        --refuse_;
        return Error{ErrorCode::kUnavailable, "not now", ""};
      }
      EXPECT_EQ(find_inconsistency(batch), "");
      batches_.push_back(std::move(batch));
      return {};
    };
  }
  void refuse(int times) {
    const MutexLock lock(mutex_);
    refuse_ = times;
  }
  size_t count() const {
    const MutexLock lock(mutex_);
    return batches_.size();
  }
  // Samples in each, in the order they came.
  std::vector<int64_t> samples() const {
    const MutexLock lock(mutex_);
    std::vector<int64_t> counts;
    for (const ProfileBatch& batch : batches_) counts.push_back(jfr::total(batch, "samples"));
    return counts;
  }
  std::string label(size_t index, std::string_view key) const {
    const MutexLock lock(mutex_);
    const ProfileBatch& batch = batches_.at(index);
    for (const Label& l : batch.dictionary.label_sets[batch.profiles.at(0).resource]) {
      if (batch.dictionary.string(l.key) == key)
        return std::string(batch.dictionary.string(l.text));
    }
    return "";
  }

 private:
  mutable Mutex mutex_;
  std::vector<ProfileBatch> batches_ GUARDED_BY(mutex_);
  int refuse_ GUARDED_BY(mutex_) = 0;
};

template <class Condition>
bool wait_for(Condition&& condition, std::chrono::seconds limit = std::chrono::seconds(20)) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

}  // namespace vesta::agent
