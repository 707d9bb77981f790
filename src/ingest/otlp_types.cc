#include "ingest/otlp_types.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include "formats/otlp/conventions.h"
#include "ingest/profile_types.h"
#include "profile/merge/transform.h"

namespace vesta {

void name_otlp_labels(ProfileBatch& batch) {
  Dictionary& dictionary = batch.dictionary;
  std::map<uint32_t, LabelSetId> known;
  for (Profile& profile : batch.profiles) {
    const auto [entry, is_new] = known.try_emplace(profile.resource.value, profile.resource);
    if (is_new) {
      const auto items = dictionary.label_sets[profile.resource];
      std::vector<Label> labels(items.begin(), items.end());
      std::set<std::string> taken;
      for (const Label& label : labels) taken.emplace(dictionary.string(label.key));
      bool changed = false;
      for (Label& label : labels) {
        const std::string_view key = dictionary.string(label.key);
        if (!key.starts_with(otlp::key::kScopeAttributePrefix)) continue;
        const std::string name(key.substr(otlp::key::kScopeAttributePrefix.size()));
        if (name.empty() || !taken.insert(name).second) continue;
        label.key = dictionary.strings.add(name);
        changed = true;
      }
      if (changed) entry->second = dictionary.label_sets.add(labels);
    }
    profile.resource = entry->second;
  }
}

void name_otlp_types(ProfileBatch& batch) {
  Dictionary& dictionary = batch.dictionary;
  for (Profile& profile : batch.profiles) {
    if (profile.sample_types.empty() || !dictionary.string(profile.name).empty()) continue;
    // Joined types came from one pprof, whose names are what they should be.
    if (profile.sample_types.size() > 1) continue;
    const SampleType& type = profile.sample_types.front();
    const std::string_view name = dictionary.string(type.type);
    const std::string_view unit = dictionary.string(type.unit);
    const std::string_view period = dictionary.string(profile.period_type.type);
    if (name == "samples" && unit == "count" && period == "cpu" &&
        dictionary.string(profile.period_type.unit) == "nanoseconds" && profile.period > 0) {
      scale(profile, 0, static_cast<double>(profile.period));
      set_type(dictionary, profile, {"process_cpu", "cpu", "nanoseconds", "cpu", "nanoseconds"});
    } else if (name == "cpu" && unit == "nanoseconds") {
      profile.name = dictionary.strings.add("process_cpu");
    } else if (const std::string_view known = otlp_family_of(name); !known.empty()) {
      profile.name = dictionary.strings.add(known);
    } else {
      // A guess that only repeats the type says less than the period does.
      std::string family = guess_family(dictionary, profile);
      if (family == name && !period.empty()) family = period;
      profile.name = dictionary.strings.add(family);
    }
  }
}

}  // namespace vesta
