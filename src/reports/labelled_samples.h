// Samples with their labels, as stores answer them, and as stacks of a selection, which has none:
// for filters of labels and for trees by label. Plain functions.
#pragma once

#include <vector>

#include "profile/frame_profile.h"
#include "store/selection.h"
#include "store/stack_tree_writer.h"

namespace vesta {

// The stacks of a batch as a tree of their own. Refers to the dictionary. Not thread-safe.
class SampleStacks {
 public:
  explicit SampleStacks(const Dictionary& dictionary);

  // Adds to the weight of that stack, by its number in the tree, which it becomes a part of.
  void add(StackId stack, int64_t weight, std::vector<int64_t>& weights);
  const StackTree& tree() const { return tree_; }

 private:
  const Dictionary& dictionary_;
  const std::vector<Hash128> hashes_;
  StackTree tree_;
  StackTreeWriter writer_;
  StackTreeWriter::LocationFrames frames_;
  StackNumbers numbers_;
};

// Leaves the samples that pass `tag_focus` and `tag_ignore`; labels of the resource count where a
// sample has none of that key itself. kUsage when one of them is not valid.
Status keep_labelled(ProfileBatch& batch, const FrameFilters& filters);

// The selection with the stacks of these samples, which are some of its own. All else stays, the
// total too: shares are of all samples, as they are with filters of stacks.
Selection with_stacks_of(Selection whole, const ProfileBatch& samples);

}  // namespace vesta
