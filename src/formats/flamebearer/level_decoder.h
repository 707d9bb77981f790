// The bars of a flame graph, level by level, checked and turned into a tree: every bar must lie
// inside one of the level above. Owns the tree and the last level. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace vesta {

class LevelDecoder {
 public:
  static constexpr uint32_t kNoNode = UINT32_MAX;
  static constexpr size_t kMaxSides = 2;

  struct Node {
    uint32_t parent = kNoNode;
    uint32_t name = 0;  // index into the names of the file
  };

  // What a bar has of its own, once its children are known. `cut` is what neither it nor they
  // account for: the file was made with small bars left out.
  struct Own {
    uint32_t node = kNoNode;
    std::array<int64_t, kMaxSides> self{};
    std::array<int64_t, kMaxSides> cut{};
  };

  // `sides` is 1, or 2 for a comparison.
  LevelDecoder(size_t sides, size_t name_count) : sides_(sides), name_count_(name_count) {}

  size_t values_per_bar() const { return sides_ * 3 + 1; }

  // Takes the numbers of the next level; fills `done` with the bars of the level before. After the
  // last level an empty one completes the rest.
  // REQUIRES: numbers.size() is a multiple of values_per_bar()
  Status add_level(std::span<const int64_t> numbers, std::vector<Own>& done);

  const std::vector<Node>& nodes() const { return nodes_; }
  // Of the root bar on each side; 0 before the first level.
  int64_t total(size_t side) const { return totals_[side]; }

 private:
  struct Bar {
    uint32_t node = kNoNode;
    std::array<int64_t, kMaxSides> begin{};
    std::array<int64_t, kMaxSides> end{};
    std::array<int64_t, kMaxSides> self{};
    std::array<int64_t, kMaxSides> children{};  // sum of their totals
  };

  Status read_bar(std::span<const int64_t> numbers, size_t first, Bar& bar);
  Status place(Bar& bar, size_t first, size_t& parent);
  Status finish_last_level(std::vector<Own>& done) const;
  Error error_at(size_t index, std::string_view what) const;

  size_t sides_;
  size_t name_count_;
  size_t level_ = 0;
  std::array<int64_t, kMaxSides> end_{};  // of the last bar read on this level
  std::array<int64_t, kMaxSides> totals_{};
  std::vector<Node> nodes_;
  std::vector<Bar> last_level_;
};

}  // namespace vesta
