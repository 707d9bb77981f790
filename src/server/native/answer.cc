#include "server/native/answer.h"

#include "formats/table/report_parts.h"
#include "query/coverage.h"

namespace vesta::server {

std::string_view temporality_word(const ProfileType& type) {
  return type.temporality() == Temporality::kInstant ? "instant" : "cumulative";
}

void write_answer_header(JsonWriter& json, const Question& question, const Selection& selection) {
  const ProfileType& type = question.type;
  write_json_header(json, type.sample_type, type.sample_unit, selection.total,
                    selection.covered.duration_ns(), selection.first_ns);
  json.field("profile_type", type.id());
  json.field("temporality", temporality_word(type));
  json.field("from_ns", question.range.start_ns).field("to_ns", question.range.end_ns);
  json.field("profiles", selection.profiles);
  json.field("services", uint64_t{selection.services.size()});
}

void write_answer_coverage(JsonWriter& json, const Selection& selection) {
  write_coverage(json, named_share(selection), selection.losses);
}

void write_frame_name(JsonWriter& json, const FrameNames& names, uint32_t name) {
  const FrameName& frame = names[name];
  json.field("name", frame.name.empty() ? names.text(name) : std::string(frame.name));
  json.field("file", frame.file).field("line", frame.line).field("binary", frame.binary);
  if (frame.kind != FrameKind::kUnknown) json.field("kind", frame_kind_name(frame.kind));
}

void write_labels(JsonWriter& json, const Labels& labels) {
  json.key("labels").begin_object();
  for (const auto& [name, value] : labels) json.field(name, value);
  json.end_object();
}

void write_nodes(JsonWriter& json, const FlameTree& tree, const PrunedTree& pruned) {
  const bool both = tree.has_baseline();
  json.key("nodes").begin_array();
  for (size_t i = 0; i < pruned.nodes.size(); ++i) {
    const uint32_t node = pruned.nodes[i];
    json.begin_object().field("id", uint64_t{i});
    json.field("parent", i == 0 ? int64_t{-1} : int64_t{pruned.parent[i]});
    json.field("name", tree.text(node));
    json.field("total", tree.weights.total[node]).field("self", tree.weights.self[node]);
    if (both) {
      json.field("total_before", tree.baseline.total[node]);
      json.field("self_before", tree.baseline.self[node]);
    }
    if (pruned.cut_nodes[i] != 0) {
      json.key("cut").begin_object().field("nodes", uint64_t{pruned.cut_nodes[i]});
      json.field("self", pruned.cut_weight[i]);
      if (both) json.field("self_before", pruned.cut_baseline[i]);
      json.end_object();
    }
    json.end_object();
  }
  json.end_array();
  json.key("cut").begin_object().field("nodes", pruned.total_cut_nodes);
  json.field("self", pruned.total_cut_weight);
  if (both) json.field("self_before", pruned.total_cut_baseline);
  json.end_object();
}

}  // namespace vesta::server
