// Flame graphs as Pyroscope's clients read them: levels of bars with offsets, and the bytes of a
// tree. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/flamebearer/flame_bars.h"

namespace vesta {

struct FlameLevels {
  // Level by level, bar by bar, four numbers each: distance from the end of the bar before it,
  // total, self, name. In a comparison seven: the first three of the left, of the right, name.
  std::vector<std::vector<int64_t>> levels;
  int64_t total = 0;  // of both sides together
  int64_t left_total = 0;
  int64_t right_total = 0;
  int64_t max_self = 0;
};
FlameLevels to_levels(const FlameBars& tree);

// Records from the root on, each before those below it, the last child first: length of the name,
// name, self, number of children; all numbers LEB128. The root has no name. Nothing for a tree
// without weight. The left side of a comparison is not looked at.
std::string to_tree_bytes(const FlameBars& tree);

}  // namespace vesta
