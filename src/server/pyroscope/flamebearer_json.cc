#include "server/pyroscope/flamebearer_json.h"

#include "base/json_writer.h"
#include "server/pyroscope/flame_encoding.h"

namespace vesta::server {
namespace {

struct UnitWords {
  int64_t sample_rate = 100;
  std::string_view units;
};

// As Pyroscope words them: nanoseconds of CPU are samples at a rate of 1e9.
UnitWords unit_words(const ProfileType& type) {
  const std::string_view name = type.sample_type;
  if (name == "cpu") return {1'000'000'000, "samples"};
  if (name.ends_with("_objects") || name.starts_with("goroutine") || name == "samples") {
    return {100, "objects"};
  }
  return {100, type.sample_unit};
}

void append(const Timeline& timeline, JsonWriter& json) {
  json.begin_object();
  json.field("startTime", timeline.start_s);
  json.key("samples").begin_array();
  for (const int64_t value : timeline.values) json.number(value);
  json.end_array();
  json.field("durationDelta", timeline.step_s);
  json.key("watermarks").begin_object().end_object();
  json.end_object();
}

}  // namespace

std::string to_json(const Flamebearer& flamebearer) {
  const FlameBars& bars = flamebearer.bars;
  const FlameLevels levels = to_levels(bars);
  JsonWriter json;
  json.begin_object();
  json.field("version", int64_t{1});
  json.key("flamebearer").begin_object();
  json.key("names").begin_array();
  for (const std::string& name : bars.names) json.string(name);
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

  const UnitWords words = unit_words(flamebearer.type);
  json.key("metadata").begin_object();
  json.field("format", bars.is_comparison() ? "double" : "single");
  json.field("spyName", "");
  json.field("sampleRate", words.sample_rate);
  json.field("units", words.units);
  json.field("name", flamebearer.type.sample_type);
  json.end_object();

  json.key("timeline");
  if (bars.is_comparison()) {
    json.null();
  } else {
    append(flamebearer.timeline, json);
  }
  json.key("groups");
  if (flamebearer.groups.empty()) {
    json.null();
  } else {
    json.begin_object();
    for (const auto& [value, timeline] : flamebearer.groups) {
      json.key(value);
      append(timeline, json);
    }
    json.end_object();
  }
  json.key("heatmap").null();
  if (bars.is_comparison()) {
    json.field("leftTicks", levels.left_total);
    json.field("rightTicks", levels.right_total);
  }
  json.end_object();
  return json.take();
}

int64_t timeline_step_s(int64_t range_s) {
  constexpr int64_t kPoints = 1500;
  constexpr int64_t kSteps[] = {15,    20,    30,     60,      120,     300,   600,
                                900,   1200,  1800,   3600,    7200,    10800, 21600,
                                43200, 86400, 604800, 2592000, 31536000};
  // The nearest one.
  for (size_t at = 0; at + 1 < std::size(kSteps); ++at) {
    if (2 * (range_s / kPoints) < kSteps[at] + kSteps[at + 1]) return kSteps[at];
  }
  return kSteps[std::size(kSteps) - 1];
}

}  // namespace vesta::server
