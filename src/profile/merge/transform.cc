#include "profile/merge/transform.h"

#include <algorithm>

#include "profile/carried_rounding.h"
#include "profile/merge/canonical_order.h"
#include "profile/merge/merger.h"

namespace vesta {
namespace {

constexpr size_t kBefore = 0;
constexpr size_t kAfter = 1;

// Turns rows with the values of both sides into rows with the difference. Returns how often a
// counter went down.
uint64_t subtract_sides(Profile& p) {
  const size_t types = p.sample_types.size();
  uint64_t resets = 0;
  std::vector<int64_t> values;
  std::vector<bool> keep(p.samples.size());
  for (size_t row = 0; row < p.samples.size(); ++row) {
    const int64_t* old_values = p.samples.values.data() + row * types * 2;
    const int64_t* new_values = old_values + types;
    for (size_t type = 0; type < types; ++type) {
      int64_t value = new_values[type];
      if (p.sample_types[type].temporality == Temporality::kCumulative) {
        if (new_values[type] < old_values[type]) {
          // A stack that is gone entirely is a restart, too; there is nothing to add for it then.
          ++resets;
        } else {
          value = saturating_subtract(new_values[type], old_values[type]);
        }
      }
      values.push_back(value);
      if (value != 0) keep[row] = true;
    }
  }
  p.samples.values = std::move(values);
  retain_samples(p, [&](size_t row) { return keep[row]; });
  return resets;
}

}  // namespace

ProfileBatch delta(const ProfileBatch& before, const ProfileBatch& after) {
  Merger merger(2);
  merger.add(before, kBefore);
  merger.add(after, kAfter);
  Merger::Gathered gathered = merger.take();
  ProfileBatch& batch = gathered.batch;
  const StringId reset = batch.dictionary.strings.intern("counter reset");
  std::vector<Profile> kept;
  for (size_t i = 0; i < batch.profiles.size(); ++i) {
    const Merger::Origin& origin = gathered.origins[i];
    if (origin.members[kAfter] == 0) continue;
    Profile& p = batch.profiles[i];
    p.add_loss(reset, subtract_sides(p));
    if (origin.time_ns[kBefore] != 0 && p.time_ns > origin.time_ns[kBefore]) {
      p.duration_ns = saturating_subtract(p.time_ns, origin.time_ns[kBefore]);
      p.time_ns = origin.time_ns[kBefore];
    }
    kept.push_back(std::move(p));
  }
  batch.profiles = std::move(kept);
  return in_canonical_order(batch, gathered.main_mapping).batch;
}

void scale(Profile& profile, size_t type, double factor) {
  CarriedScaling scaled(factor);
  for (size_t row = 0; row < profile.samples.size(); ++row) {
    int64_t& value = profile.samples.values[row * profile.sample_types.size() + type];
    value = scaled(value);
  }
}

ProfileBatch only_type(ProfileBatch batch, const TypeInfo& type) {
  const Dictionary& d = batch.dictionary;
  std::vector<Profile> kept;
  for (Profile& p : batch.profiles) {
    if (d.string(p.name) != type.name) continue;
    const auto column = std::ranges::find_if(p.sample_types, [&](const SampleType& t) {
      return d.string(t.type) == type.type && d.string(t.unit) == type.unit;
    });
    if (column == p.sample_types.end()) continue;
    const size_t types = p.sample_types.size();
    const auto at = static_cast<size_t>(column - p.sample_types.begin());
    p.sample_types = {*column};
    p.default_type = 0;
    for (size_t row = 0; row < p.samples.size(); ++row) {
      p.samples.values[row] = p.samples.values[row * types + at];
    }
    p.samples.values.resize(p.samples.size());
    retain_samples(p, [&](size_t row) { return p.samples.values[row] != 0; });
    kept.push_back(std::move(p));
  }
  batch.profiles = std::move(kept);
  return batch;
}

}  // namespace vesta
