#include "store/series_labels.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "store/engine.h"

namespace vesta {
namespace {

constexpr std::array<std::string_view, 7> kSystemLabels = {
    "__name__",        kTypeLabel,        "__type__",        "__unit__",
    "__period_type__", "__period_unit__", "__service_name__"};

}  // namespace

ProfileType profile_type_of(const Dictionary& dictionary, const Profile& profile, size_t type) {
  const SampleType& sample = profile.sample_types[type];
  const auto text = [&](StringId id) { return std::string(dictionary.string(id)); };
  return {text(profile.name), text(sample.type), text(sample.unit), text(profile.period_type.type),
          text(profile.period_type.unit)};
}

Labels series_labels(const Dictionary& dictionary, const Profile& profile,
                     const ProfileType& type) {
  std::map<std::string, std::string, std::less<>> labels;
  for (const Label& label : dictionary.label_sets[profile.resource]) {
    const std::string_view name = dictionary.string(label.key);
    if (label.kind != LabelKind::kString || name.empty() || is_system_label(name)) continue;
    if (const std::string_view value = dictionary.string(label.text); !value.empty())
      labels.emplace(name, value);
  }
  const std::string service = labels.emplace(kServiceLabel, kUnknownService).first->second;
  labels["__service_name__"] = service;
  labels[std::string(kTypeLabel)] = type.id();
  labels["__name__"] = type.name;
  labels["__type__"] = type.sample_type;
  labels["__unit__"] = type.sample_unit;
  labels["__period_type__"] = type.period_type;
  labels["__period_unit__"] = type.period_unit;
  Labels out;
  for (auto& [name, value] : labels)
    if (!value.empty()) out.emplace_back(name, std::move(value));
  return out;
}

bool is_system_label(std::string_view name) {
  return std::ranges::find(kSystemLabels, name) != kSystemLabels.end();
}

Labels group_labels(const Labels& labels, const std::vector<std::string>& names) {
  Labels group;
  for (const std::string& name : std::set(names.begin(), names.end())) {
    if (const std::string_view value = label_value(labels, name); !value.empty())
      group.emplace_back(name, value);
  }
  return group;
}

}  // namespace vesta
