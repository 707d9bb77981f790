// One Profile message of OTLP. Not thread-safe.
#pragma once

#include <vector>

#include "formats/otlp/dictionary_reader.h"
#include "formats/otlp/layout.h"
#include "profile/profile.h"
#include "profile/sample_table.h"

namespace vesta::otlp {

class ProfileReader {
 public:
  // All must outlive it. Label sets may hold `max_label_items` labels in all, which bounds what
  // attributes that stand for several labels can make of a small message.
  ProfileReader(Decoding& decoding, const DictionaryExtras& extras, const Layout& layout,
                size_t max_label_items)
      : decoding_(decoding), extras_(extras), layout_(layout), max_label_items_(max_label_items) {}

  // `resource` are the labels of the resource and the scope; attributes of the profile that mean
  // nothing special are added to them.
  bool read(WireReader message, const std::vector<Label>& resource, Profile& profile);

 private:
  bool read_type(WireReader message, SampleType& type);
  // Fields whose numbers depend on the release.
  bool read_renumbered(WireReader& message, Profile& profile, std::vector<Label>& labels);
  void apply_attribute(AttributeId id, Profile& profile, std::vector<Label>& labels);
  bool read_sample(WireReader message, SampleTable& rows, uint64_t& cut_stacks);
  bool read_times(WireReader& message);
  bool add_rows(size_t offset, StackId stack, LinkId link, SampleTable& rows);

  Decoding& decoding_;
  const DictionaryExtras& extras_;
  const Layout& layout_;
  size_t max_label_items_;
  uint64_t negative_samples_ = 0;  // of the current profile
  size_t rows_read_ = 0;           // of all profiles, against max_samples
  std::vector<Label> labels_;      // scratch
  std::vector<int64_t> values_;    // scratch
  std::vector<int64_t> times_ns_;  // scratch
};

}  // namespace vesta::otlp
