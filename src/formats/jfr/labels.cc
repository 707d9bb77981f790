#include "formats/jfr/labels.h"

#include <fmt/format.h>

#include "base/table_hash.h"

namespace vesta::jfr {

LabelSets::LabelSets(DictionaryBuilder& builder, size_t max_labels)
    : builder_(builder),
      max_labels_(max_labels),
      thread_key_(builder.string("thread")),
      class_key_(builder.string("class")),
      state_key_(builder.string("state")),
      event_key_(builder.string("event")) {}

LabelSetId LabelSets::get(const SampleLabels& labels) {
  const uint32_t at = index_.find_or_insert(
      table_hash_of(std::span<const SampleLabels>(&labels, 1)),
      [&](uint32_t position) { return known_[position].first == labels; },
      [&] {
        known_.emplace_back(labels, make(labels));
        return static_cast<uint32_t>(known_.size() - 1);
      });
  return known_[at].second;
}

LabelSetId LabelSets::make(const SampleLabels& labels) {
  std::vector<Label> list;
  const auto add = [&](StringId key, StringId value) {
    if (value) list.push_back({key, LabelKind::kString, value, {}, 0});
  };
  add(thread_key_, labels.thread);
  add(class_key_, labels.class_name);
  add(state_key_, labels.state);
  add(event_key_, labels.event);
  if (labels.span_id != 0) {
    list.push_back(builder_.text_label(
        "profile_id", fmt::format("{:016x}", static_cast<uint64_t>(labels.span_id))));
  }
  if (labels.local_root_span_id != 0) {
    list.push_back(builder_.text_label(
        "local_root_span_id",
        fmt::format("{:016x}", static_cast<uint64_t>(labels.local_root_span_id))));
  }
  if (labels.span_name) add(builder_.string("span_name"), labels.span_name);
  if (labels.context_id != 0)
    list.push_back(builder_.number_label("context_id", labels.context_id));
  if (labels.span_name_id != 0)
    list.push_back(builder_.number_label("span_name_id", labels.span_name_id));
  if (list.size() > max_labels_) list.resize(max_labels_);
  return builder_.label_set(list);
}

}  // namespace vesta::jfr
