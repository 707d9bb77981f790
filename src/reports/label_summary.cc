#include "reports/label_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/table_hash.h"
#include "base/units.h"

namespace vesta {

std::string label_text(const Dictionary& d, const Label& label) {
  if (label.kind == LabelKind::kString) return std::string(d.string(label.text));
  // Ids and the like have no unit and must not be scaled.
  if (!label.unit) return fmt::format("{}", label.number);
  return format_value(label.number, d.string(label.unit));
}

std::vector<LabelKey> summarize_labels(const MergedProfile& profile) {
  const Dictionary& d = *profile.dictionary;
  std::unordered_map<uint64_t, int64_t, TableKeyHash>
      weights;  // of samples with equal labels and resource
  for (const WeightedStack& sample : profile.samples) {
    int64_t& sum = weights[uint64_t{sample.labels.value} << 32 | sample.resource.value];
    sum = saturating_add(sum, sample.value);
  }
  struct Sums {
    int64_t weight = 0;
    std::map<std::string, int64_t> values;
  };
  std::map<std::string_view, Sums> sums;
  std::set<std::string_view> keys_of_sample;
  for (const auto& [pair, weight] : weights) {
    keys_of_sample.clear();
    const auto add = [&, sample_weight = weight](const Label& label) {
      const std::string_view key = d.string(label.key);
      Sums& sum = sums[key];
      int64_t& value = sum.values[label_text(d, label)];
      value = saturating_add(value, sample_weight);
      // A sample with two values for a key has its weight under both, and once under the key.
      if (keys_of_sample.insert(key).second) sum.weight = saturating_add(sum.weight, sample_weight);
    };
    for (const Label& label : d.label_sets[LabelSetId(pair >> 32)]) add(label);
    const std::set<std::string_view> own = keys_of_sample;
    for (const Label& label : d.label_sets[LabelSetId(pair & UINT32_MAX)]) {
      if (!own.contains(d.string(label.key))) add(label);
    }
  }
  std::vector<LabelKey> keys;
  for (const auto& [key, sum] : sums) {
    LabelKey out{std::string(key), sum.weight, {}};
    for (const auto& [value, weight] : sum.values) out.values.push_back({value, weight});
    std::ranges::stable_sort(out.values, std::ranges::greater(),
                             [](const LabelValue& v) { return saturating_abs(v.weight); });
    keys.push_back(std::move(out));
  }
  return keys;
}

}  // namespace vesta
