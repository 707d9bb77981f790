#include "query/frame_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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
      return name.binary.empty() ? "<unknown>" : std::string(base_name(name.binary));
  }
  return {};
}

FrameNames::OfTree::OfTree(FrameNames& names, const StackTree& tree)
    : names_(names),
      tree_(tree),
      by_string_(names.group() == GroupBy::kFunction),
      known_(by_string_ ? tree.string_count() : tree.frame_count()) {}

FrameNames::OfTree FrameNames::of_tree(const StackTree& tree) {
  trees_.push_back(tree);
  return {*this, tree};
}

uint32_t FrameNames::add(const StackTree& tree, TreeFrame id) {
  const StoredFrame& frame = tree.stored_frame(id);
  FrameName name;
  name.kind = frame.kind;
  name.binary = tree.string(frame.binary);
  std::string scratch;
  name.file = clean_source_path(tree.string(frame.file), scratch);
  if (!scratch.empty() && name.file.data() == scratch.data()) {
    cleaned_.push_back(std::move(scratch));
    name.file = cleaned_.back();
  }
  // A file stands for itself; a frame without one is named after what is known of it.
  if (group_ != GroupBy::kFile || name.file.empty()) name.name = tree.string(frame.shown);
  if (group_ == GroupBy::kLine) name.line = frame.line;

  // What tells two entries apart; the rest is that of the first one seen.
  const auto key = [this](const FrameName& n) -> std::pair<std::string_view, std::string_view> {
    switch (group_) {
      case GroupBy::kFunction:
        return {n.name, {}};
      case GroupBy::kLine:
        return {n.name, n.file};
      case GroupBy::kFile:
        return {n.name, n.file};
      case GroupBy::kBinary:
        return {base_name(n.binary), {}};
    }
    return {};
  };
  const auto wanted = key(name);
  const uint64_t hash = TableHash()
                            .add(table_hash(wanted.first))
                            .add(table_hash(wanted.second))
                            .add(static_cast<uint64_t>(name.line))
                            .value();
  return index_.find_or_insert(
      hash, [&](uint32_t at) { return names_[at].line == name.line && key(names_[at]) == wanted; },
      [&] {
        names_.push_back(name);
        return static_cast<uint32_t>(names_.size() - 1);
      });
}

std::vector<uint32_t> FrameNames::ranks() const {
  std::vector<uint32_t> order(names_.size());
  std::iota(order.begin(), order.end(), 0);
  if (group_ == GroupBy::kFunction) {
    std::ranges::sort(order, {}, [&](uint32_t id) { return names_[id].name; });
  } else {
    std::vector<std::string> texts(names_.size());
    for (uint32_t id = 0; id < texts.size(); ++id) texts[id] = text(id);
    std::ranges::stable_sort(
        order, {}, [&](uint32_t id) -> const auto& { return texts[id]; });
  }
  std::vector<uint32_t> rank(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  return rank;
}

}  // namespace vesta
