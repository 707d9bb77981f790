#include "ingest/pyroscope/jfr_labels.h"

#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/table_hash.h"
#include "base/utf8.h"
#include "formats/common/parse_error.h"
#include "formats/protobuf/wire.h"
#include "profile/dictionary_builder.h"
#include "profile/merge/transform.h"
#include "profile/merged_profile.h"

namespace vesta::pyroscope {
namespace {

constexpr std::string_view kFormat = "jfr labels";

struct Snapshot {
  using Context = std::vector<std::pair<int64_t, int64_t>>;
  std::unordered_map<int64_t, Context, TableKeyHash> contexts;
  std::unordered_map<int64_t, std::string_view, TableKeyHash> strings;
};

Error malformed(const WireReader& reader) {
  return parse_error(kFormat, reader.offset(),
                     reader.ok() ? "wrong type of a field" : reader.problem(),
                     "the part 'labels' is a LabelsSnapshot message");
}

// One entry of a map: a number and whatever `value` reads.
template <class Value>
Status read_entry(WireReader entry, int64_t& key, Value&& value) {
  while (entry.next()) {
    if (entry.is(1, WireType::kVarint)) {
      key = entry.int64();
    } else if (entry.field() == 2) {
      VESTA_TRY(value(entry));
    } else {
      entry.skip();
    }
  }
  if (!entry.ok()) return malformed(entry);
  return {};
}

Status read_context(WireReader& field, Snapshot::Context& context) {
  if (field.type() != WireType::kBytes) return malformed(field);
  WireReader message = field.message();
  while (message.next()) {
    if (!message.is(1, WireType::kBytes)) {
      message.skip();
      continue;
    }
    std::pair<int64_t, int64_t> label;
    VESTA_TRY(read_entry(message.message(), label.first, [&](WireReader& entry) -> Status {
      if (entry.type() != WireType::kVarint) return malformed(entry);
      label.second = entry.int64();
      return {};
    }));
    context.push_back(label);
  }
  if (!message.ok()) return malformed(message);
  return {};
}

Result<Snapshot> read_snapshot(std::string_view bytes) {
  Snapshot snapshot;
  WireReader reader(bytes);
  while (reader.next()) {
    int64_t key = 0;
    if (reader.is(1, WireType::kBytes)) {
      Snapshot::Context context;
      VESTA_TRY(read_entry(reader.message(), key,
                           [&](WireReader& entry) { return read_context(entry, context); }));
      snapshot.contexts[key] = std::move(context);
    } else if (reader.is(2, WireType::kBytes)) {
      std::string_view text;
      VESTA_TRY(read_entry(reader.message(), key, [&](WireReader& entry) -> Status {
        if (entry.type() != WireType::kBytes) return malformed(entry);
        text = entry.bytes();
        return {};
      }));
      snapshot.strings[key] = text;
    } else {
      reader.skip();
    }
  }
  if (!reader.ok()) return malformed(reader);
  return snapshot;
}

class LabelResolver {
 public:
  LabelResolver(Dictionary& dictionary, const Snapshot& snapshot, size_t max_labels)
      : snapshot_(snapshot),
        dictionary_(dictionary),
        builder_(dictionary),
        labels_left_(max_labels),
        known_(dictionary.label_sets.size()) {}

  Result<LabelSetId> resolve(LabelSetId set) {
    uint32_t& known = known_[set.index()];
    if (known == 0) {
      VESTA_ASSIGN(const LabelSetId made, make(set));
      known = made.value + 1;
    }
    return LabelSetId(known - 1);
  }

 private:
  Result<LabelSetId> make(LabelSetId set) {
    const auto items = dictionary_.label_sets[set];
    const std::vector<Label> labels(items.begin(), items.end());
    std::vector<Label> resolved;
    for (const Label& label : labels) {
      const std::string_view key = dictionary_.string(label.key);
      if (label.kind == LabelKind::kNumber && key == "context_id") {
        const auto context = snapshot_.contexts.find(label.number);
        if (context == snapshot_.contexts.end()) continue;
        // Many samples may share a context of very many labels.
        if (context->second.size() > labels_left_)
          return limit_error(kFormat, "number of labels of all contexts", kMaxLabels);
        labels_left_ -= context->second.size();
        for (const auto& [key_id, value_id] : context->second) add(key_id, value_id, resolved);
      } else if (label.kind == LabelKind::kNumber && key == "span_name_id") {
        if (const std::string* name = text(label.number))
          resolved.push_back(builder_.text_label("span_name", *name));
      } else {
        resolved.push_back(label);
      }
    }
    return builder_.label_set(resolved);
  }

  void add(int64_t key_id, int64_t value_id, std::vector<Label>& labels) {
    const std::string* key = text(key_id);
    const std::string* value = text(value_id);
    if (key == nullptr || value == nullptr || key->empty() || value->empty()) return;
    labels.push_back(builder_.text_label(*key, *value));
  }

  const std::string* text(int64_t id) {
    const auto known = texts_.find(id);
    if (known != texts_.end()) return &known->second;
    const auto raw = snapshot_.strings.find(id);
    if (raw == snapshot_.strings.end()) return nullptr;
    return &texts_.emplace(id, replace_invalid_utf8(raw->second)).first->second;
  }

 public:
  static constexpr size_t kMaxLabels = 4'000'000;

 private:
  const Snapshot& snapshot_;
  Dictionary& dictionary_;
  DictionaryBuilder builder_;
  size_t labels_left_;
  std::vector<uint32_t> known_;  // new set plus one; 0 = not looked at
  std::unordered_map<int64_t, std::string, TableKeyHash> texts_;
};

}  // namespace

Status apply_jfr_labels(ProfileBatch& batch, std::string_view message) {
  VESTA_ASSIGN(const Snapshot snapshot, read_snapshot(message));
  LabelResolver resolver(batch.dictionary, snapshot, LabelResolver::kMaxLabels);
  for (Profile& profile : batch.profiles) {
    for (LabelSetId& set : profile.samples.labels) {
      VESTA_ASSIGN(set, resolver.resolve(set));
    }
  }
  return {};
}

void drop_sample_counts(ProfileBatch& batch) {
  const Dictionary& dictionary = batch.dictionary;
  for (Profile& profile : batch.profiles) {
    if (profile.sample_types.size() != 2 ||
        dictionary.string(profile.sample_types[1].type) != "samples")
      continue;
    profile.sample_types.resize(1);
    profile.default_type = 0;
    for (size_t row = 0; row < profile.samples.size(); ++row)
      profile.samples.values[row] = profile.samples.values[row * 2];
    profile.samples.values.resize(profile.samples.size());
  }
}

}  // namespace vesta::pyroscope
