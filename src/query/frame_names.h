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

  // The number of the function of that name; 0 when there is none.
  // REQUIRES: grouped by function
  uint32_t find_function(std::string_view name) const;

  // Numbers of one tree's names in this table, found once each.
  class OfTree {
   public:
    OfTree(FrameNames& names, const StackTree& tree);
    uint32_t of(TreeFrame frame) {
      uint32_t& known = by_frame_[frame];
      return known != 0 ? known : known = find(frame);
    }

   private:
    uint32_t find(TreeFrame frame);

    FrameNames& names_;
    const StackTree& tree_;
    std::vector<uint32_t> by_frame_;
    std::vector<uint32_t> by_string_;  // empty unless a function is all that counts
  };
  // REQUIRES: the tree outlives what is returned; this table keeps a snapshot of its own
  OfTree of_tree(const StackTree& tree);

  // A name that stands for no frame: "pod=web-1". Shown as it is, whatever names are grouped by.
  uint32_t add_label(std::string text);

  // The order of names in tables and graphs.
  bool is_before(uint32_t a, uint32_t b) const;

 private:
  struct Key {
    std::string_view name;
    std::string_view file;
    int64_t line = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  // What tells two names apart.
  Key key_of(const FrameName& name) const;
  uint32_t add(const StackTree& tree, TreeFrame id);

  GroupBy group_;
  std::vector<FrameName> names_;
  IdIndex index_;
  std::vector<StackTree> trees_;
  std::deque<std::string> own_texts_;  // labels, and paths that the trees spell in a longer way
};

}  // namespace vesta
