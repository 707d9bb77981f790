#include "store/sample_labels.h"

#include <algorithm>
#include <set>

namespace vesta {

bool names_something(LabelKind kind, std::string_view name) {
  if (name.empty()) return false;
  if (kind == LabelKind::kString) return true;
  return name.ends_with("id") || name == "cpu" || name == "cpu.logical_number";
}

std::optional<std::vector<bool>> left_to_samples(const Selector& either, const Labels& series) {
  std::vector<bool> asked;
  for (const LabelMatcher& matcher : either) {
    const std::string_view value = label_value(series, matcher.name());
    if (!value.empty() && !matcher.matches(value)) return std::nullopt;
    asked.push_back(value.empty());
  }
  return asked;
}

Labels own_labels(const Labels& sample, const Labels& series,
                  const std::vector<std::string>& names) {
  Labels own;
  for (const std::string& name : std::set(names.begin(), names.end())) {
    if (!label_value(series, name).empty()) continue;
    // Not every list of them is in order.
    const auto found = std::ranges::find(sample, name, &Labels::value_type::first);
    if (found != sample.end() && !found->second.empty()) own.push_back(*found);
  }
  return own;
}

Labels joined(const Labels& a, const Labels& b) {
  Labels out = a;
  out.insert(out.end(), b.begin(), b.end());
  std::ranges::sort(out);
  return out;
}

}  // namespace vesta
