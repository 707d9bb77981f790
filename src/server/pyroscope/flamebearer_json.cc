#include "server/pyroscope/flamebearer_json.h"

#include "formats/flamebearer/writer.h"

namespace vesta::server {
namespace {

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
  JsonWriter json;
  json.begin_object();
  const FlameLevels levels = write_flame_levels(
      json, bars,
      flamebearer_units(flamebearer.type.sample_type, flamebearer.type.sample_unit, std::nullopt),
      flamebearer.type.sample_type);
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
