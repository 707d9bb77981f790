// What was added to the dictionary of a partition by one write, as bytes: strings, frames, nodes,
// stacks with their hashes, and sets of labels. README.md has the layout. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/append_log.h"
#include "store/stack_numbers.h"
#include "store/stack_tree.h"

namespace vesta::rocks {

// A label of a sample; texts are strings of the partition's tree.
struct StoredLabel {
  TreeString key;
  LabelKind kind = LabelKind::kString;
  TreeString text;
  TreeString unit;
  int64_t number = 0;
  friend bool operator==(const StoredLabel&, const StoredLabel&) = default;
};
using LabelSets = AppendLog<std::vector<StoredLabel>, 6>;  // entry 0 is the empty set

// How far a dictionary goes.
struct DictionaryMark {
  uint32_t strings = 1;
  uint32_t frames = 1;
  uint32_t nodes = 1;
  uint32_t name_nodes = 1;
  uint32_t stacks = 0;
  uint32_t label_sets = 1;
  friend bool operator==(const DictionaryMark&, const DictionaryMark&) = default;
};
DictionaryMark mark_of(const StackTree& tree, const LabelSets& label_sets);

// All from the mark on. `stacks` and `sets` know the hashes of stacks and of sets, set 0 left out.
std::string encode_chunk(const StackTree& tree, const LabelSets& label_sets,
                         const StackNumbers& stacks, const StackNumbers& sets,
                         const DictionaryMark& from);

// Appends the chunk; false when it is damaged or does not go on where the tree ends. What was
// appended before the damage stays.
bool decode_chunk(std::string_view bytes, StackTree& tree, LabelSets& label_sets);
// Takes no more than the hashes, and moves the mark to the end of the chunk; false as above.
bool decode_chunk_hashes(std::string_view bytes, DictionaryMark& mark, StackNumbers& stacks,
                         StackNumbers& sets);

}  // namespace vesta::rocks
