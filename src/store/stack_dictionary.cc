#include "store/stack_dictionary.h"

namespace vesta {

StackId StackDictionary::stack(StackNumber stack) {
  locations_.clear();
  for (TreeNode node = tree_.leaf(stack); node;) {
    const Place& place = place_of(node);
    locations_.push_back(place.location);
    node = place.above;
  }
  return builder_.stack(locations_);
}

const StackDictionary::Place& StackDictionary::place_of(TreeNode node) {
  const auto [at, is_new] = places_.try_emplace(node);
  Place& place = at->second;
  if (!is_new) return place;
  const StoredFrame& innermost = tree_.stored_frame(tree_.frame(node));
  Location location;
  location.kind = innermost.kind;
  location.mapping = mapping_of(innermost);
  std::vector<Line> lines;
  while (true) {
    const StoredFrame& frame = tree_.stored_frame(tree_.frame(node));
    if (frame.address != 0) location.address = frame.address;
    if (frame.name || frame.system_name || frame.file || frame.line != 0) {
      const Function function{string(frame.name), string(frame.system_name), string(frame.file),
                              frame.start_line};
      lines.push_back({builder_.function(function), frame.column, frame.line});
    }
    node = tree_.parent(node);
    if (!frame.inlined || !node) break;
  }
  place.location = builder_.location(location, lines);
  place.above = node;
  return place;
}

MappingId StackDictionary::mapping_of(const StoredFrame& frame) {
  if (!frame.binary && !frame.build_id) return {};
  Mapping mapping;
  mapping.file = string(frame.binary);
  mapping.build_id = string(frame.build_id);
  // Names were looked up before the profile was stored; nobody need do it again.
  mapping.has_functions = static_cast<bool>(frame.name);
  return builder_.mapping(mapping);
}

StringId StackDictionary::string(TreeString id) {
  return builder_.string(tree_.string(id));
}

}  // namespace vesta
