// The frames that a tree shows, numbered in order of appearance, with the text and colour that both
// writers need. Owns its strings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "profile/flame_tree.h"
#include "profile/report_header.h"

namespace vesta {

struct FlameFrame {
  std::string name;        // visible text
  std::string short_name;  // see shorten_name
  size_t color = 0;        // of frame_colors()
};

struct FlameFrames {
  std::vector<FlameFrame> frames;  // frames[0] is the root, "all"
  std::vector<uint32_t> index;     // by name of the tree
};

FlameFrames collect_frames(const FlameTree& tree);

// "type", "unit", "total" and, with a baseline, "before": what the scripts need to print values.
void write_profile_fields(JsonWriter& json, const ReportHeader& header, const FlameTree& tree);

}  // namespace vesta
