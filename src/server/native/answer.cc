#include "server/native/answer.h"

#include <algorithm>
#include <set>

#include "formats/table/report_parts.h"
#include "query/coverage.h"
#include "store/time_cover.h"
#include "store/time_spread.h"

namespace vesta::server {
namespace {

// Of profiles that are chosen one by one.
Result<int64_t> covered_by_chosen(const ApiCall& call, const Question& question,
                                  const SelectRequest& select) {
  PointsRequest request;
  request.type = question.type;
  request.selector = question.selector;
  request.range = question.range;
  request.budget = call.context.budget();
  VESTA_ASSIGN(const auto points,
               call.context.engine_of(question.file).points(call.caller.tenant, request));
  const std::set<std::string_view> ids(select.profile_ids.begin(), select.profile_ids.end());
  TimeCover cover;
  for (const ProfilePoint& point : points) {
    if (!ids.empty() && !ids.contains(point.profile_id)) continue;
    if (select.totals && !select.totals->contains(point.value)) continue;
    cover.add(overlap(spread_range(point.time_ns, point.duration_ns), question.range));
  }
  return cover.length_ns();
}

// Of the range, by all profiles that match.
Result<int64_t> covered_by_all(const ApiCall& call, const Question& question) {
  TotalsRequest request;
  request.type = question.type;
  request.selector = question.selector;
  request.range = question.range;
  const auto length =
      static_cast<uint64_t>(question.range.end_ns) - static_cast<uint64_t>(question.range.start_ns);
  request.step_ns = static_cast<int64_t>(std::clamp<uint64_t>(length, 1, INT64_MAX));
  request.by_start = true;  // values are not looked at
  request.budget = call.context.budget();
  VESTA_ASSIGN(const auto series,
               call.context.engine_of(question.file).totals(call.caller.tenant, request));
  int64_t covered_ns = 0;
  for (const TotalsSeries& one : series)
    for (const TotalsPoint& point : one.points)
      covered_ns = saturating_add(covered_ns, point.covered_ns);
  return covered_ns;
}

void write_warnings(JsonWriter& json, const std::vector<AnswerWarning>& warnings) {
  json.key("warnings").begin_array();
  for (const AnswerWarning& warning : warnings)
    json.begin_object().field("code", warning.code).field("text", warning.text).end_object();
  json.end_array();
}

}  // namespace

Result<AnswerBasis> read_basis(const ApiCall& call, const Question& question,
                               const Selection& selection) {
  int64_t covered_ns = 0;
  if (selection.profiles != 0) {
    VESTA_ASSIGN(const SelectRequest select, select_request(call, question));
    if (select.profile_ids.empty() && !select.totals) {
      VESTA_ASSIGN(covered_ns, covered_by_all(call, question));
    } else {
      VESTA_ASSIGN(covered_ns, covered_by_chosen(call, question, select));
    }
  }
  return basis_of(selection, covered_ns);
}

std::string_view temporality_word(const ProfileType& type) {
  return type.temporality() == Temporality::kInstant ? "instant" : "cumulative";
}

void write_answer_header(JsonWriter& json, const Question& question, const Selection& selection,
                         const AnswerBasis& basis) {
  const ProfileType& type = question.type;
  write_json_header(json, type.sample_type, type.sample_unit, selection.total,
                    selection.covered.duration_ns(), selection.first_ns);
  json.field("profile_type", type.id());
  json.field("temporality", temporality_word(type));
  json.field("from_ns", question.range.start_ns).field("to_ns", question.range.end_ns);
  json.field("profiles", selection.profiles);
  json.field("services", uint64_t{selection.services.size()});
  if (basis.samples) {
    json.field("samples", *basis.samples);
  } else {
    json.key("samples").null();
  }
  json.field("covered_ns", basis.covered_ns);
  if (const auto instances = basis.instances()) {
    json.field("instances", *instances);
  } else {
    json.key("instances").null();
  }
  write_warnings(json, basis.warnings);
}

Result<ComparedAnswers> read_compared(const ApiCall& call, const Comparison& both,
                                      const Selection& before, const Selection& after) {
  VESTA_ASSIGN(const std::string word, read_word(call, "scale", "rate|absolute|normalized"));
  const CompareBy asked = word == "rate"       ? CompareBy::kRate
                          : word == "absolute" ? CompareBy::kAbsolute
                                               : CompareBy::kShare;
  ComparedAnswers compared;
  VESTA_ASSIGN(compared.before, read_basis(call, both.baseline, before));
  VESTA_ASSIGN(compared.after, read_basis(call, both.question, after));
  compared.comparison =
      compare_by(asked, both.question.type.temporality(), compared.before, compared.after);
  return compared;
}

void write_comparison_header(JsonWriter& json, const Comparison& both,
                             const ComparedAnswers& compared, const Selection& before,
                             const Selection& after, int64_t total_before, int64_t total_after) {
  AnswerBasis basis = compared.after;
  for (const AnswerWarning& warning : compared.comparison.warnings)
    basis.warnings.push_back(warning);
  write_answer_header(json, both.question, after, basis);
  json.field("scale", compare_word(compared.comparison.by));
  json.field("baseline_factor", compared.comparison.baseline_factor);
  json.field("total_before_raw", before.total);
  json.field("total_before", total_before).field("total_after", total_after);
  json.field("total_delta", saturating_subtract(total_after, total_before));
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
