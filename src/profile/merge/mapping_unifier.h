// Recognises one binary that is mapped at different addresses (address randomisation, many
// processes), so that its locations merge. What it settles on does not depend on the order of what
// it is shown. Refers to the builder of the dictionary that it fills, which must outlive it. Not
// thread-safe.
#pragma once

#include <vector>

#include "profile/dictionary_builder.h"

namespace vesta {

class MappingUnifier {
 public:
  explicit MappingUnifier(DictionaryBuilder& target) : target_(target) {}

  // The entry of the target that stands for this mapping and all its twins. Until settle(), it
  // begins at address 0, and locations in it are to be added with addresses counted from there.
  MappingId unify(const Dictionary& from, const Mapping& mapping);

  // Of two entries, the one whose binary comes first by name: a choice that no later twin changes.
  MappingId lesser(MappingId a, MappingId b) const;

  // Puts every mapping, with its locations, where the lowest of its twins was, under the first of
  // their paths. The builder must not be used afterwards: its entries have changed.
  void settle();

 private:
  // What is known of an entry of the target besides what tells it apart.
  struct Twins {
    uint64_t start = 0;
    uint64_t limit = 0;
    StringId file;
    bool has_functions = true;
    bool has_filenames = true;
    bool has_line_numbers = true;
    bool has_inline_frames = true;
    bool seen = false;
  };

  DictionaryBuilder& target_;
  std::vector<Twins> twins_;  // by mapping of the target
};

}  // namespace vesta
