#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/table_hash.h"
#include "profile/dictionary_builder.h"
#include "profile/merge/merge.h"
#include "profile/merge/merger.h"
#include "profile/profile_types.h"
#include "profile/sample_table.h"

namespace vesta {
namespace {

// Finds the column of each type of each profile in the union of all. A type that a profile has
// twice has two columns, and so have locks and I/O, which call what they measure alike.
class TypeUnion {
 public:
  explicit TypeUnion(const Dictionary& dictionary) : dictionary_(dictionary) {}

  std::vector<uint32_t> columns_of(const Profile& profile) {
    std::vector<uint32_t> columns;
    std::unordered_map<std::string, size_t, TableKeyHash> seen;  // in this profile
    for (const SampleType& type : profile.sample_types) {
      std::string key(dictionary_.string(type.type));
      key += '\0';
      key += dictionary_.string(type.unit);
      const std::string_view own =
          own_type_name(dictionary_.string(profile.name), dictionary_.string(type.type));
      key += '\0';
      key += own;
      auto& places = places_[key];
      const size_t nth = seen[key]++;
      if (nth == places.size()) {
        places.push_back(static_cast<uint32_t>(types_.size()));
        types_.push_back(type);
        own_names_.push_back(own);
      }
      columns.push_back(places[nth]);
    }
    return columns;
  }
  const std::vector<SampleType>& types() const { return types_; }
  // The same, where those that would be called alike have names of their own.
  std::vector<SampleType> named_types(Dictionary& dictionary) const {
    std::vector<SampleType> named = types_;
    for (size_t i = 0; i < types_.size(); ++i) {
      for (size_t j = 0; j < types_.size(); ++j) {
        const bool is_alike =
            dictionary.string(types_[i].type) == dictionary.string(types_[j].type) &&
            own_names_[i] != own_names_[j];
        if (is_alike && !own_names_[i].empty())
          named[i].type = dictionary.strings.add(own_names_[i]);
      }
    }
    return named;
  }

 private:
  const Dictionary& dictionary_;
  std::vector<std::string_view> own_names_;  // of the types; empty for most
  std::unordered_map<std::string, std::vector<uint32_t>, TableKeyHash> places_;
  std::vector<SampleType> types_;
};

// The labels of a sample together with those of its resource. What the sample says of itself is
// nearer the truth than what is said of the whole process, so it wins where both have a key.
class LabelUnion {
 public:
  explicit LabelUnion(Dictionary& dictionary) : dictionary_(dictionary), builder_(dictionary) {}

  LabelSetId of(LabelSetId own, LabelSetId resource) {
    if (!resource) return own;
    const uint64_t key = uint64_t{own.value} << 32 | resource.value;
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    labels_.clear();
    keys_.clear();
    for (const Label& label : std::as_const(dictionary_.label_sets)[own]) {
      labels_.push_back(label);
      keys_.push_back(dictionary_.string(label.key));
    }
    std::ranges::sort(keys_);
    for (const Label& label : std::as_const(dictionary_.label_sets)[resource]) {
      if (!std::ranges::binary_search(keys_, dictionary_.string(label.key)))
        labels_.push_back(label);
    }
    return known_[key] = builder_.label_set(labels_);
  }

 private:
  Dictionary& dictionary_;
  DictionaryBuilder builder_;
  std::unordered_map<uint64_t, LabelSetId, TableKeyHash> known_;
  std::vector<Label> labels_;
  std::vector<std::string_view> keys_;
};

Profile flat_header(const std::vector<Profile>& profiles) {
  Profile flat;
  if (profiles.size() == 1) flat.name = profiles[0].name;
  for (const Profile& p : profiles) {
    if (flat.period == 0 && p.period != 0) {
      flat.period = p.period;
      flat.period_type = p.period_type;
    }
    flat.time_ns = earlier(flat.time_ns, p.time_ns);
    flat.duration_ns = std::max(flat.duration_ns, p.duration_ns);
    flat.comments.insert(flat.comments.end(), p.comments.begin(), p.comments.end());
    if (!flat.doc_url) flat.doc_url = p.doc_url;
    if (!flat.drop_frames) {
      flat.drop_frames = p.drop_frames;
      flat.keep_frames = p.keep_frames;
    }
    flat.losses.insert(flat.losses.end(), p.losses.begin(), p.losses.end());
  }
  // Each comment once, in order of appearance; each reason once, with its sum.
  std::unordered_map<StringId, size_t> place;
  std::erase_if(flat.comments, [&](StringId id) { return !place.emplace(id, 0).second; });
  place.clear();
  std::vector<Loss> losses;
  losses.swap(flat.losses);
  for (const Loss& loss : losses) {
    const auto [found, is_new] = place.emplace(loss.reason, flat.losses.size());
    if (is_new) {
      flat.losses.push_back(loss);
    } else {
      uint64_t& sum = flat.losses[found->second].count;
      if (__builtin_add_overflow(sum, loss.count, &sum)) sum = UINT64_MAX;
    }
  }
  return flat;
}

}  // namespace

ProfileBatch flatten(ProfileBatch batch) {
  if (batch.profiles.size() == 1 && !batch.profiles[0].resource) return batch;
  if (batch.profiles.empty()) {
    batch.profiles.emplace_back();
    return batch;
  }
  Profile flat = flat_header(batch.profiles);
  TypeUnion types(batch.dictionary);
  std::vector<std::vector<uint32_t>> columns;
  for (const Profile& p : batch.profiles) columns.push_back(types.columns_of(p));
  flat.sample_types = types.named_types(batch.dictionary);
  if (!columns[0].empty()) flat.default_type = columns[0][batch.profiles[0].default_type];

  LabelUnion labels(batch.dictionary);
  SampleTable rows(flat.sample_types.size());
  std::vector<int64_t> values(flat.sample_types.size());
  for (size_t i = 0; i < batch.profiles.size(); ++i) {
    const Profile& p = batch.profiles[i];
    for (size_t row = 0; row < p.samples.size(); ++row) {
      for (size_t type = 0; type < columns[i].size(); ++type)
        values[columns[i][type]] = p.value(row, type);
      rows.add(p.samples.stacks[row], values, labels.of(p.samples.label_set(row), p.resource),
               p.samples.link(row), p.samples.time_ns(row));
    }
    for (const uint32_t column : columns[i]) values[column] = 0;
  }
  batch.profiles.clear();
  flat.samples = rows.finish();
  batch.profiles.push_back(std::move(flat));
  return batch;
}

uint64_t flattened_value_count(const ProfileBatch& batch) {
  TypeUnion types(batch.dictionary);
  uint64_t rows = 0;
  for (const Profile& p : batch.profiles) {
    types.columns_of(p);
    rows += p.samples.size();
  }
  return rows * types.types().size();
}

}  // namespace vesta
