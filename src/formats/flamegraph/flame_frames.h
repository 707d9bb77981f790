// The frames that a tree shows, numbered in order of appearance, with the text and colour that both
// writers need. Owns its strings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "profile/call_tree.h"

namespace vesta {

struct FlameFrame {
  FrameId id;
  std::string name;        // visible text
  std::string short_name;  // see shorten_name
  size_t color = 0;        // of frame_colors()
};

struct FlameFrames {
  std::vector<FlameFrame> frames;  // frames[0] is the root, "all"
  std::vector<uint32_t> index;     // of FrameId

  uint32_t index_of(const CallTree::Node& node) const {
    return node.parent == CallTree::kNone ? 0 : index[node.frame.frame().index()];
  }
  const FlameFrame& of(const CallTree::Node& node) const { return frames[index_of(node)]; }
};

FlameFrames collect_frames(const FrameProfile& profile, const CallTree& tree);

// "type", "unit", "total" and, with a baseline, "before": what the scripts need to print values.
void write_profile_fields(JsonWriter& json, const FrameProfile& profile, const CallTree& tree);

}  // namespace vesta
