#include "formats/flamegraph/flame_frames.h"

#include "base/units.h"
#include "formats/flamegraph/flame_colors.h"
#include "formats/flamegraph/flame_label.h"
#include "formats/flamegraph/flame_text.h"

namespace vesta {

FlameFrames collect_frames(const FrameProfile& profile, const CallTree& tree) {
  FlameFrames out;
  out.index.assign(profile.frames.size(), 0);
  // The root gets a grey, like every frame that is no function.
  out.frames.push_back({FrameId(), "all", "all", frame_colors().size() - 1});
  for (const CallTree::Node& node : tree.nodes) {
    if (node.parent == CallTree::kNone) continue;
    const FrameId id = node.frame.frame();
    if (out.index[id.index()] != 0) continue;
    out.index[id.index()] = static_cast<uint32_t>(out.frames.size());
    std::string name = frame_label(profile, id);
    std::string short_name = shorten_name(name);
    out.frames.push_back(
        {id, std::move(name), std::move(short_name), frame_color_index(profile, id)});
  }
  return out;
}

void write_profile_fields(JsonWriter& json, const FrameProfile& profile, const CallTree& tree) {
  const Unit unit = parse_unit(profile.unit);
  json.field("type", visible_text(profile.type));
  json.key("unit").begin_object();
  json.field("name", visible_text(profile.unit));
  json.field("kind", unit.kind == UnitKind::kTime     ? "time"
                     : unit.kind == UnitKind::kMemory ? "memory"
                     : unit.kind == UnitKind::kCount  ? "count"
                                                      : "other");
  json.field("toBase", unit.to_base);
  json.end_object();
  json.field("total", share_base(profile.total, tree.root().total));
  if (profile.has_baseline) {
    json.field("before", share_base(profile.baseline_total, tree.root().baseline_total));
  }
}

}  // namespace vesta
