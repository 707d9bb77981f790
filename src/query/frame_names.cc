#include "query/frame_names.h"

#include <fmt/format.h>

#include "base/table_hash.h"
#include "profile/frame_name.h"
#include "profile/source_path.h"

namespace vesta {

Result<GroupBy> parse_group_by(std::string_view word) {
  if (word.empty() || word == "function") return GroupBy::kFunction;
  if (word == "line") return GroupBy::kLine;
  if (word == "file") return GroupBy::kFile;
  if (word == "binary") return GroupBy::kBinary;
  return Error{ErrorCode::kUsage, fmt::format("cannot group by '{}'", word),
               "one of function, line, file, binary"};
}

namespace {

// Labels have themselves as their binary.
std::string_view binary_text(const FrameName& name) {
  return name.name == name.binary ? name.binary : base_name(name.binary);
}

}  // namespace

std::string display_text(const FrameName& name, GroupBy group) {
  switch (group) {
    case GroupBy::kFunction:
      return std::string(name.name);
    case GroupBy::kLine:
      if (name.line != 0) return fmt::format("{} {}:{}", name.name, name.file, name.line);
      if (!name.file.empty()) return fmt::format("{} {}", name.name, name.file);
      return std::string(name.name);
    case GroupBy::kFile:
      return std::string(name.file.empty() ? name.name : name.file);
    case GroupBy::kBinary:
      return name.binary.empty() ? "<unknown>" : std::string(binary_text(name));
  }
  return {};
}

FrameNames::OfTree::OfTree(FrameNames& names, const StackTree& tree)
    : names_(names),
      tree_(tree),
      by_frame_(tree.frame_count()),
      by_string_(names.group() == GroupBy::kFunction ? tree.string_count() : 0) {}

uint32_t FrameNames::OfTree::find(TreeFrame frame) {
  if (by_string_.empty()) return names_.add(tree_, frame);
  uint32_t& known = by_string_[tree_.stored_frame(frame).shown];
  if (known == 0) known = names_.add(tree_, frame);
  return known;
}

FrameNames::OfTree FrameNames::of_tree(const StackTree& tree) {
  trees_.push_back(tree);
  return {*this, tree};
}

FrameNames::Key FrameNames::key_of(const FrameName& name) const {
  switch (group_) {
    case GroupBy::kFunction:
      return {name.name, {}, 0};
    case GroupBy::kLine:
    case GroupBy::kFile:
      return {name.name, name.file, name.line};
    case GroupBy::kBinary:
      return {binary_text(name), {}, 0};
  }
  return {};
}

uint32_t FrameNames::add(const StackTree& tree, TreeFrame id) {
  const StoredFrame& frame = tree.stored_frame(id);
  FrameName name;
  std::string scratch;
  const auto set_file = [&] { name.file = clean_source_path(tree.string(frame.file), scratch); };
  if (group_ != GroupBy::kFunction) set_file();
  // A file stands for itself; a frame without one is named after what is known of it.
  if (group_ != GroupBy::kFile || name.file.empty()) name.name = tree.string(frame.shown);
  if (group_ == GroupBy::kLine) name.line = frame.line;
  name.binary = tree.string(frame.binary);

  const Key key = key_of(name);
  uint64_t hash = table_hash(key.name);
  if (group_ != GroupBy::kFunction) {
    hash = TableHash()
               .add(hash)
               .add(table_hash(key.file))
               .add(static_cast<uint64_t>(key.line))
               .value();
  }
  return index_.find_or_insert(
      hash, [&](uint32_t at) { return key_of(names_[at]) == key; },
      [&] {
        // The rest is that of the first one seen.
        name.kind = frame.kind;
        set_file();
        if (!scratch.empty() && name.file.data() == scratch.data()) {
          own_texts_.push_back(std::move(scratch));
          name.file = own_texts_.back();
        }
        names_.push_back(name);
        return static_cast<uint32_t>(names_.size() - 1);
      });
}

uint32_t FrameNames::find_function(std::string_view name) const {
  const uint32_t found =
      index_.find(table_hash(name), [&](uint32_t at) { return names_[at].name == name; });
  return found == IdIndex::kNotFound ? 0 : found;
}

uint32_t FrameNames::add_label(std::string text) {
  own_texts_.push_back(std::move(text));
  FrameName name;
  name.name = own_texts_.back();
  if (group_ == GroupBy::kBinary) name.binary = name.name;
  names_.push_back(name);
  return static_cast<uint32_t>(names_.size() - 1);
}

bool FrameNames::is_before(uint32_t a, uint32_t b) const {
  return key_of(names_[a]) < key_of(names_[b]);
}

}  // namespace vesta
