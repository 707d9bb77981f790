// A column that only grows, in chunks that never move. A copy is a snapshot: it shares the chunks,
// keeps its own length, and stays valid while the original grows. Copy under the writer's lock;
// afterwards the copy can be read from any thread without one.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace vesta {

template <class T, size_t kChunkBits = 10>
class AppendLog {
 public:
  static constexpr size_t kChunk = size_t{1} << kChunkBits;

  const T& operator[](size_t index) const {
    assert(index < size_);
    return chunks_[index >> kChunkBits][index & (kChunk - 1)];
  }
  size_t size() const { return size_; }
  size_t push_back(T item) {
    if (size_ == chunks_.size() * kChunk) chunks_.push_back(std::shared_ptr<T[]>(new T[kChunk]()));
    chunks_.back()[size_ & (kChunk - 1)] = std::move(item);
    return size_++;
  }
  size_t byte_size() const { return chunks_.size() * kChunk * sizeof(T); }

 private:
  std::vector<std::shared_ptr<T[]>> chunks_;
  size_t size_ = 0;
};

}  // namespace vesta
