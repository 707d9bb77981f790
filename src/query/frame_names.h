// What the rows and bars of reports are named after: functions, lines, files or binaries of several
// services, each once. Refers to strings of the services' trees, which it keeps alive. Not
// thread-safe while it grows.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_index.h"
#include "base/result.h"
#include "store/stack_tree.h"

namespace vesta {

enum class GroupBy { kFunction, kLine, kFile, kBinary };

// "function", "line", "file", "binary"; empty is "function". kUsage for another word.
Result<GroupBy> parse_group_by(std::string_view word);

struct FrameName {
  std::string_view name;  // of the function, or what stands for it; empty when grouped by file
  std::string_view file;
  std::string_view binary;  // path
  int64_t line = 0;
  FrameKind kind = FrameKind::kUnknown;
};

// As a person reads it: "main.work", "main.work /src/main.go:42" when grouped by line, the path of
// a file, the base name of a binary.
std::string display_text(const FrameName& name, GroupBy group);

class FrameNames {
 public:
  explicit FrameNames(GroupBy group) : group_(group) { names_.push_back({}); }

  GroupBy group() const { return group_; }
  // Entry 0 is the empty one, which roots have.
  size_t size() const { return names_.size(); }
  const FrameName& operator[](uint32_t id) const { return names_[id]; }
  std::string text(uint32_t id) const { return display_text(names_[id], group_); }

  // Numbers of one tree's names in this table, found once each.
  class OfTree {
   public:
    OfTree(FrameNames& names, const StackTree& tree);
    uint32_t of(TreeFrame frame) {
      uint32_t& known = known_[by_string_ ? tree_.stored_frame(frame).shown : frame];
      if (known == 0) known = names_.add(tree_, frame);
      return known;
    }

   private:
    FrameNames& names_;
    const StackTree& tree_;
    bool by_string_;
    std::vector<uint32_t> known_;
  };
  // REQUIRES: the tree outlives what is returned; this table keeps a snapshot of its own
  OfTree of_tree(const StackTree& tree);

  // Numbers in the order of the texts, so that sorting compares integers.
  std::vector<uint32_t> ranks() const;

 private:
  uint32_t add(const StackTree& tree, TreeFrame frame);

  GroupBy group_;
  std::vector<FrameName> names_;
  IdIndex index_;
  std::vector<StackTree> trees_;
  std::deque<std::string> cleaned_;  // paths that the trees spell in a longer way
};

}  // namespace vesta
