// The way back from a StackTree to a Dictionary: stacks that were stored become stacks of a batch,
// for exports. Refers to the tree and the builder, which must outlive it. Not thread-safe.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "profile/dictionary_builder.h"
#include "store/stack_tree.h"

namespace vesta {

class StackDictionary {
 public:
  StackDictionary(const StackTree& tree, DictionaryBuilder& builder)
      : tree_(tree), builder_(builder) {}

  // A frame that was inlined shares the location of its caller. Each binary is a mapping without
  // addresses, so that the addresses of locations are those in the file.
  // REQUIRES: stack < tree.stack_count()
  StackId stack(StackNumber stack);

 private:
  struct Place {
    LocationId location;
    TreeNode above;  // the caller's innermost frame
  };
  const Place& place_of(TreeNode node);
  MappingId mapping_of(const StoredFrame& frame);
  StringId string(TreeString id);

  const StackTree& tree_;
  DictionaryBuilder& builder_;
  std::map<TreeNode, Place> places_;   // by the innermost frame
  std::vector<LocationId> locations_;  // scratch
};

}  // namespace vesta
