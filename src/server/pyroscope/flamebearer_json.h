// The answer of /pyroscope/render and /pyroscope/render-diff: a flame graph with numbers instead of
// the strings that protobuf's JSON has, and the total over time. Pure function.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/flamebearer/flame_bars.h"
#include "store/selection.h"

namespace vesta::server {

struct Timeline {
  int64_t start_s = 0;
  int64_t step_s = 0;
  std::vector<int64_t> values;  // one per step, 0 where there is nothing
};

struct Flamebearer {
  FlameBars bars;
  ProfileType type;
  Timeline timeline;  // not for comparisons
  std::vector<std::pair<std::string, Timeline>> groups;
};
std::string to_json(const Flamebearer& flamebearer);

// The step that a range is drawn with: some 1500 points, at round numbers of seconds from 15 up.
int64_t timeline_step_s(int64_t range_s);

}  // namespace vesta::server
