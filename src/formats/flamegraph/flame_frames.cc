#include "formats/flamegraph/flame_frames.h"

#include "base/units.h"
#include "formats/flamegraph/flame_colors.h"
#include "formats/flamegraph/flame_label.h"
#include "formats/flamegraph/flame_text.h"

namespace vesta {

FlameFrames collect_frames(const FlameTree& tree) {
  FlameFrames out;
  out.index.assign(tree.names->size(), 0);
  // The root gets a grey, like every frame that is no function.
  out.frames.push_back({"all", "all", frame_colors().size() - 1});
  for (uint32_t node = 1; node < tree.size(); ++node) {
    const uint32_t id = tree.name[node];
    if (out.index[id] != 0) continue;
    out.index[id] = static_cast<uint32_t>(out.frames.size());
    std::string name = frame_label(*tree.names, id);
    std::string short_name = shorten_name(name);
    out.frames.push_back(
        {std::move(name), std::move(short_name), frame_color_index((*tree.names)[id])});
  }
  return out;
}

void write_profile_fields(JsonWriter& json, const ReportHeader& header, const FlameTree& tree) {
  const Unit unit = parse_unit(header.unit);
  json.field("type", visible_text(header.type));
  json.key("unit").begin_object();
  json.field("name", visible_text(header.unit));
  json.field("kind", unit.kind == UnitKind::kTime     ? "time"
                     : unit.kind == UnitKind::kMemory ? "memory"
                     : unit.kind == UnitKind::kCount  ? "count"
                                                      : "other");
  json.field("toBase", unit.to_base);
  json.end_object();
  json.field("total", share_base(header.total, tree.weights.total[0]));
  if (tree.has_baseline()) {
    json.field("before", share_base(header.baseline_total, tree.baseline.total[0]));
  }
}

}  // namespace vesta
