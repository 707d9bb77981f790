#include "formats/flamebearer/writer.h"

#include <vector>

#include "base/time.h"
#include "profile/flame_tree.h"
#include "profile/frame_name.h"
#include "profile/frame_names.h"

namespace vesta {
namespace {

// Calls by name from the root.
FlameTree tree_of(const Dictionary& dictionary, const Profile& profile) {
  const auto names = std::make_shared<FrameNames>(Granularity::kFunction);
  std::vector<std::vector<uint32_t>> by_location(dictionary.locations.size());  // root side first
  const auto names_of = [&](LocationId location) -> const std::vector<uint32_t>& {
    std::vector<uint32_t>& known = by_location[location.index()];
    if (known.empty()) {
      for (size_t line = frame_count(dictionary, location); line-- > 0;) {
        FrameName name;
        name.name = names->keep_text(frame_name(dictionary, location, line));
        known.push_back(names->number(name, [](FrameName&) {}));
      }
    }
    return known;
  };
  FlameTreeBuilder tree(false);
  for (size_t row = 0; row < profile.samples.size(); ++row) {
    const int64_t value = profile.value(row, 0);
    if (value <= 0) continue;
    const auto stack = dictionary.stacks[profile.samples.stacks[row]];
    uint32_t node = 0;
    for (size_t at = stack.size(); at-- > 0;)
      for (const uint32_t name : names_of(stack[at])) node = tree.child(node, name);
    tree.add_self(node, value, false);
  }
  return tree.finish(names);
}

// By the profile's own clock or, in samples per second, as is usual.
FlamebearerUnits units_of(const Dictionary& dictionary, const Profile& profile) {
  if (profile.sample_types.empty()) return {"samples"};
  const bool has_rate = dictionary.string(profile.period_type.unit) == "nanoseconds" &&
                        profile.period > 0 && profile.period <= kSecond;
  return flamebearer_units(dictionary.string(profile.sample_types[0].type),
                           dictionary.string(profile.sample_types[0].unit),
                           has_rate ? kSecond / profile.period : 100);
}

}  // namespace

FlameLevels write_flame_levels(JsonWriter& json, const FlameBars& bars,
                               const FlamebearerUnits& units, std::string_view name) {
  FlameLevels levels = to_levels(bars);
  json.field("version", int64_t{1});
  json.key("flamebearer").begin_object();
  json.key("names").begin_array();
  for (const std::string& text : bars.names) json.string(text);
  json.end_array();
  json.key("levels").begin_array();
  for (const auto& level : levels.levels) {
    json.begin_array();
    for (const int64_t number : level) json.number(number);
    json.end_array();
  }
  json.end_array();
  json.field("numTicks", levels.total);
  json.field("maxSelf", levels.max_self);
  json.end_object();
  json.key("metadata").begin_object();
  json.field("format", bars.is_comparison() ? "double" : "single");
  json.field("spyName", "");
  json.field("sampleRate", units.sample_rate);
  json.field("units", units.units);
  json.field("name", name);
  return levels;
}

std::string write_flamebearer(const ProfileBatch& batch) {
  static const Profile kNoProfile;
  const bool has_type = !batch.profiles.empty() && !batch.profiles[0].sample_types.empty();
  const Profile& profile = has_type ? batch.profiles[0] : kNoProfile;
  JsonWriter json;
  json.begin_object();
  write_flame_levels(json, to_flame_bars(tree_of(batch.dictionary, profile), 0),
                     units_of(batch.dictionary, profile), batch.dictionary.string(profile.name));
  return json.field("appName", "").end_object().end_object().take();
}

}  // namespace vesta
