// Label sets of samples, each put together once. Refers to the builder. Not thread-safe.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/id_index.h"
#include "profile/dictionary_builder.h"

namespace vesta::jfr {

// What tells samples with equal stacks apart. Empty parts make no label.
struct SampleLabels {
  StringId thread;
  StringId class_name;  // of the object that is allocated or waited for
  StringId state;
  StringId event;
  StringId span_name;
  uint32_t padding = 0;
  int64_t context_id = 0;
  int64_t span_id = 0;
  int64_t local_root_span_id = 0;
  int64_t span_name_id = 0;  // where the name is a number that only the sender can resolve
  friend bool operator==(const SampleLabels&, const SampleLabels&) = default;
};

class LabelSets {
 public:
  LabelSets(DictionaryBuilder& builder, size_t max_labels);

  LabelSetId get(const SampleLabels& labels);

 private:
  LabelSetId make(const SampleLabels& labels);

  DictionaryBuilder& builder_;
  size_t max_labels_;
  StringId thread_key_;
  StringId class_key_;
  StringId state_key_;
  StringId event_key_;
  IdIndex index_;
  std::vector<std::pair<SampleLabels, LabelSetId>> known_;
};

}  // namespace vesta::jfr
