// Decodes the labels of samples into label sets that equal samples share, and finds the labels that
// say more about a sample: its place in a trace, its time, that it is the base of a difference.
// Refers to the dictionary, which must outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/id_index.h"
#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/dictionary.h"

namespace vesta::pprof {

// What the labels of a sample say beyond themselves.
struct LabelMeaning {
  LinkId link;
  bool is_difference_base = false;
  int64_t time_ns = 0;
};

class LabelDecoder {
 public:
  // `file` is the whole input; errors count offsets from its start. `string_count` is the size of
  // the file's string table.
  LabelDecoder(std::string_view file, const ReadOptions& options, Dictionary& dictionary);

  // The set of the label fields in `fields`, which is a sample message or a part of one. None on an
  // error: see error().
  std::optional<LabelSetId> decode(std::string_view fields);

  LabelMeaning meaning(LabelSetId set) const {
    return set.index() < meanings_.size() ? meanings_[set.index()] : LabelMeaning();
  }
  const Error& error() const { return error_; }

 private:
  // Equal bytes give equal sets: a small memory of what was decoded last, by hash.
  struct Recent {
    const char* begin = nullptr;
    uint32_t size = 0;
    LabelSetId set;
  };

  bool decode_labels(std::string_view fields);
  bool decode_label(std::string_view message, size_t offset);
  void note_meaning(LabelSetId set);
  LinkId intern_link(const Link& link);
  bool fail(Error error);

  std::string_view file_;
  const ReadOptions& options_;
  Dictionary& dictionary_;
  size_t string_count_;
  std::vector<Recent> recent_;
  IdIndex set_index_;
  IdIndex link_index_;
  std::vector<Label> labels_;           // scratch
  std::vector<LabelMeaning> meanings_;  // by set; as long as the last set that means something
  Error error_;
};

}  // namespace vesta::pprof
