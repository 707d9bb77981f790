#include "store/stack_tree_writer.h"

#include <cassert>
#include <string>

#include "base/table_hash.h"
#include "base/text.h"
#include "profile/frame_name.h"

namespace vesta {
namespace {

uint64_t hash_of(const StoredFrame& f) {
  return TableHash()
      .add(uint64_t{f.name.value} << 32 | f.system_name.value)
      .add(uint64_t{f.file.value} << 32 | f.binary.value)
      .add(uint64_t{f.build_id.value} << 32 | f.column)
      .add(static_cast<uint64_t>(f.line))
      .add(static_cast<uint64_t>(f.start_line))
      .add(f.address)
      .add(static_cast<uint64_t>(f.kind) << 1 | (f.inlined ? 1 : 0))
      .value();
}

template <class Parent, class Item>
uint64_t hash_of(Parent parent, Item item) {
  return TableHash().add(uint64_t{parent.value} << 32 | item.value).value();
}

}  // namespace

StackTreeWriter::StackTreeWriter(StackTree& tree) : tree_(tree) {
  const auto never = [](uint32_t) { return false; };
  strings_.reserve(tree.string_count());
  for (const TreeString i : Ids<TreeString>(0, tree.string_count()))
    strings_.find_or_insert(table_hash(tree.string(i)), never, [&] { return i.value; });
  frames_.reserve(tree.frame_count());
  for (const TreeFrame i : Ids<TreeFrame>(1, tree.frame_count()))
    frames_.find_or_insert(hash_of(tree.stored_frame(i)), never, [&] { return i.value; });
  nodes_.reserve(tree.node_count());
  for (const TreeNode i : Ids<TreeNode>(1, tree.node_count()))
    nodes_.find_or_insert(hash_of(tree.parent(i), tree.frame(i)), never, [&] { return i.value; });
  name_nodes_.reserve(tree.name_node_count());
  for (const NameNode i : Ids<NameNode>(1, tree.name_node_count())) {
    name_nodes_.find_or_insert(hash_of(tree.name_parent(i), tree.name(i)), never,
                               [&] { return i.value; });
  }
}

TreeString StackTreeWriter::string(std::string_view text) {
  return TreeString(strings_.find_or_insert(
      table_hash(text), [&](uint32_t at) { return tree_.string(TreeString(at)) == text; },
      [&] { return tree_.add_string(text).value; }));
}

TreeNode StackTreeWriter::path(const Dictionary& dictionary, StackId stack, LocationFrames& found) {
  const auto locations = dictionary.stacks[stack];
  TreeNode node;
  for (size_t i = locations.size(); i-- > 0;) {
    for (const TreeFrame frame : frames(dictionary, locations[i], found)) node = child(node, frame);
  }
  return node;
}

std::span<const TreeFrame> StackTreeWriter::frames(const Dictionary& dictionary,
                                                   LocationId location, LocationFrames& found) {
  if (found.places_.empty()) found.places_.resize(dictionary.locations.size());
  LocationFrames::Place& place = found.places_[location.index()];
  if (place.count == 0) {
    place.first = static_cast<uint32_t>(found.frames_.size());
    place.count = static_cast<uint32_t>(frame_count(dictionary, location));
    for (size_t line = place.count; line-- > 0;)
      found.frames_.push_back(frame(dictionary, location, line));
  }
  return std::span(found.frames_).subspan(place.first, place.count);
}

StackNumber StackTreeWriter::number(StackNumbers& numbers, const Hash128& hash,
                                    const Dictionary& dictionary, StackId stack,
                                    LocationFrames& found) {
  const size_t known = numbers.size();
  const StackNumber number = numbers.find_or_add(hash);
  if (number.index() == known) {
    const StackNumber added = tree_.add_stack(path(dictionary, stack, found));
    assert(added == number);
    static_cast<void>(added);
  }
  return number;
}

size_t StackTreeWriter::byte_size() const {
  return strings_.byte_size() + frames_.byte_size() + nodes_.byte_size() + name_nodes_.byte_size();
}

TreeFrame StackTreeWriter::frame(const Dictionary& dictionary, LocationId location_id,
                                 size_t line_index) {
  const Location& location = dictionary.location(location_id);
  const Mapping& mapping = dictionary.mapping(location.mapping);
  const auto lines = dictionary.lines[location_id];
  StoredFrame out;
  out.kind = location.kind;
  out.binary = string(dictionary.string(mapping.file));
  out.build_id = string(dictionary.string(mapping.build_id));
  Function function;
  if (line_index < lines.size()) {
    const Line& line = lines[line_index];
    function = dictionary.function(line.function);
    out.name = string(dictionary.string(function.name));
    out.system_name = string(dictionary.string(function.system_name));
    out.file = string(dictionary.string(function.file));
    out.start_line = function.start_line;
    out.line = line.line;
    out.column = line.column;
    out.inlined = line_index + 1 < lines.size();
  }
  if (!function.name && !function.system_name)
    out.address = location.address - mapping.start + mapping.file_offset;
  out.shown = shown(dictionary.string(function.name), dictionary.string(function.system_name),
                    dictionary.string(mapping.file));
  return add_frame(out);
}

TreeFrame StackTreeWriter::add_frame(const StoredFrame& frame) {
  return TreeFrame(frames_.find_or_insert(
      hash_of(frame), [&](uint32_t at) { return tree_.stored_frame(TreeFrame(at)) == frame; },
      [&] { return tree_.add_frame(frame).value; }));
}

TreeNode StackTreeWriter::child(TreeNode parent, TreeFrame frame) {
  return TreeNode(nodes_.find_or_insert(
      hash_of(parent, frame),
      [&](uint32_t at) {
        return tree_.parent(TreeNode(at)) == parent && tree_.frame(TreeNode(at)) == frame;
      },
      [&] {
        const NameNode above = parent ? tree_.name_node(parent) : NameNode();
        return tree_.add_node(parent, frame, name_child(above, frame)).value;
      }));
}

NameNode StackTreeWriter::name_child(NameNode parent, TreeFrame frame) {
  const TreeString name = tree_.stored_frame(frame).shown;
  return NameNode(name_nodes_.find_or_insert(
      hash_of(parent, name),
      [&](uint32_t at) {
        return tree_.name_parent(NameNode(at)) == parent && tree_.name(NameNode(at)) == name;
      },
      [&] { return tree_.add_name_node(parent, frame).value; }));
}

TreeString StackTreeWriter::shown(std::string_view name, std::string_view system_name,
                                  std::string_view binary) {
  if (!name.empty()) return string(name);
  if (!system_name.empty()) return string(system_name);
  if (binary.empty()) return string("<unknown>");
  std::string text = "[";
  text += base_name(binary);
  text += ']';
  return string(text);
}

}  // namespace vesta
