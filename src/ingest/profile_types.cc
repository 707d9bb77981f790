#include "ingest/profile_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "profile/merge/transform.h"

namespace vesta {
namespace {

SampleType make_type(Dictionary& dictionary, std::string_view type, std::string_view unit) {
  return {dictionary.strings.add(type), dictionary.strings.add(unit), temporality_of(type)};
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// A profile with only the columns of those types for which `wanted` holds.
template <class Wanted>
Profile with_columns(const Profile& from, Wanted&& wanted) {
  Profile to = from;
  to.sample_types.clear();
  to.samples.values.clear();
  to.default_type = 0;
  const size_t types = from.sample_types.size();
  for (size_t type = 0; type < types; ++type) {
    if (wanted(from.sample_types[type])) to.sample_types.push_back(from.sample_types[type]);
  }
  for (size_t i = 0; i < from.samples.values.size(); ++i) {
    if (wanted(from.sample_types[i % types])) to.samples.values.push_back(from.samples.values[i]);
  }
  return to;
}

}  // namespace

const DisplayNames& default_display_names() {
  static const DisplayNames kNames = {{"samples", "cpu"},
                                      {"goroutine", "goroutines"},
                                      {"contentions", "mutex_count"},
                                      {"delay", "mutex_duration"}};
  return kNames;
}

std::string guess_family(const Dictionary& dictionary, const Profile& profile,
                         const DisplayNames& display_names) {
  std::string last;
  for (const SampleType& type : profile.sample_types) {
    if (dictionary.string(type.type) == "wall") return "wall";
  }
  for (const SampleType& type : profile.sample_types) {
    const std::string_view own = dictionary.string(type.type);
    const auto shown = display_names.find(own);
    const std::string_view name =
        shown != display_names.end() && !shown->second.empty() ? shown->second : own;
    if (contains(name, "cpu")) return "process_cpu";
    if (contains(name, "alloc_") || contains(name, "inuse_") || name == "space" ||
        name == "objects")
      return "memory";
    if (contains(name, "mutex_")) return "mutex";
    if (contains(name, "block_")) return "block";
    if (name == "goroutines") return "goroutines";
    last = own;
  }
  return last;
}

void set_type(Dictionary& dictionary, Profile& profile, const ProfileType& type) {
  profile.name = dictionary.strings.add(type.name);
  profile.sample_types.front() = make_type(dictionary, type.sample_type, type.sample_unit);
  profile.period_type = make_type(dictionary, type.period_type, type.period_unit);
}

void apply_type_word(Dictionary& dictionary, Profile& profile, const ProfileTypeRow& word,
                     double sample_rate) {
  const bool is_count = dictionary.string(profile.sample_types.front().unit) == "count";
  const bool rescale = word.is_time && is_count && sample_rate > 0;
  if (word.is_time && is_count && !rescale) {
    // Without a rate, a count of samples is all there is.
    set_type(dictionary, profile, {std::string(word.family), "samples", "count", "", ""});
    return;
  }
  set_type(dictionary, profile,
           {std::string(word.family), std::string(word.type), std::string(word.unit),
            word.is_time ? "cpu" : "", word.is_time ? "nanoseconds" : ""});
  if (rescale) {
    scale(profile, 0, 1e9 / sample_rate);
    profile.period = static_cast<int64_t>(1e9 / sample_rate);
  }
}

void separate_cpu_from_wall(Dictionary& dictionary, std::vector<Profile>& profiles) {
  const auto is_cpu = [&](const SampleType& type) { return dictionary.string(type.type) == "cpu"; };
  const size_t count = profiles.size();
  for (size_t i = 0; i < count; ++i) {
    if (dictionary.string(profiles[i].name) != "wall") continue;
    const auto& types = profiles[i].sample_types;
    const auto cpus = std::ranges::count_if(types, is_cpu);
    if (cpus == 0) continue;
    const StringId name = dictionary.strings.add("process_cpu");
    if (static_cast<size_t>(cpus) == types.size()) {
      profiles[i].name = name;
      continue;
    }
    Profile cpu = with_columns(profiles[i], is_cpu);
    cpu.name = name;
    cpu.losses.clear();
    profiles[i] = with_columns(profiles[i], [&](const SampleType& t) { return !is_cpu(t); });
    profiles.push_back(std::move(cpu));
  }
}

void collapse_go_generics(Dictionary& dictionary) {
  // Functions share names: each is looked at once.
  std::unordered_map<uint32_t, StringId> known;
  const auto collapsed = [&](StringId id) {
    const auto [entry, is_new] = known.try_emplace(id.value, id);
    if (!is_new) return entry->second;
    const std::string_view text = dictionary.string(id);
    const size_t open = text.find("[go.shape.");
    const size_t close = text.rfind(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open)
      return id;
    const std::string name = fmt::format("{}[...]{}", text.substr(0, open), text.substr(close + 1));
    return entry->second = dictionary.strings.add(name);
  };
  for (Function& function : dictionary.functions) {
    function.name = collapsed(function.name);
    function.system_name = collapsed(function.system_name);
  }
}

StringId without_colons(Dictionary& dictionary, StringId text) {
  if (dictionary.string(text).find(':') == std::string_view::npos) return text;
  std::string changed(dictionary.string(text));
  std::ranges::replace(changed, ':', '_');
  return dictionary.strings.add(changed);
}

}  // namespace vesta
