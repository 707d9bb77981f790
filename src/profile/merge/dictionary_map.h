// Copies entries of one dictionary into another on demand, and remembers where they went: what is
// not asked for is not copied. Refers to both, which must outlive it; the source must not change
// meanwhile. Not thread-safe.
#pragma once

#include <vector>

#include "profile/dictionary_builder.h"
#include "profile/merge/mapping_unifier.h"

namespace vesta {

class DictionaryMap {
 public:
  // With a unifier of the same target, mappings become one with their twins, and addresses count
  // from the start of their mapping.
  DictionaryMap(const Dictionary& source, DictionaryBuilder& target,
                MappingUnifier* unifier = nullptr);

  StringId string(StringId id);
  FunctionId function(FunctionId id);
  MappingId mapping(MappingId id);
  LocationId location(LocationId id);
  StackId stack(StackId id);
  LabelSetId label_set(LabelSetId id);
  LinkId link(LinkId id);

 private:
  // Positions in the target plus one; 0 = not copied yet.
  using Places = std::vector<uint32_t>;

  const Dictionary& source_;
  DictionaryBuilder& target_;
  MappingUnifier* unifier_;
  Places strings_;
  Places functions_;
  Places mappings_;
  Places locations_;
  Places stacks_;
  Places label_sets_;
  Places links_;
  std::vector<Line> lines_;        // scratch
  std::vector<LocationId> stack_;  // scratch
  std::vector<Label> labels_;      // scratch
};

}  // namespace vesta
