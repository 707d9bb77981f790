#include "server/native/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/units.h"
#include "reports/coverage.h"
#include "reports/function_table.h"
#include "reports/print/report_parts.h"
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
  request.overlapping = select.rates.has_value();
  request.budget = call.context.budget();
  VESTA_ASSIGN(const auto points,
               call.context.engine_of(question.file).points(call.caller.tenant, request));
  const std::set<std::string_view> ids(select.profile_ids.begin(), select.profile_ids.end());
  TimeCover cover;
  ProfileCut cut(select);
  for (const ProfilePoint& point : points) {
    if (!ids.empty() && !ids.contains(point.profile_id)) continue;
    if (select.totals && !select.totals->contains(point.value)) continue;
    if (!cut.begin(point.time_ns, point.duration_ns, point.value)) continue;
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

}  // namespace

Result<AnswerBasis> read_basis(const ApiCall& call, const Question& question,
                               const Selection& selection) {
  int64_t covered_ns = 0;
  if (selection.profiles != 0) {
    VESTA_ASSIGN(const SelectRequest select, select_request(call, question));
    if (select.profile_ids.empty() && !select.totals && !select.rates) {
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
  write_optional(json, "samples", basis.samples);
  json.field("covered_ns", basis.covered_ns);
  write_optional(json, "instances", basis.instances());
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
  for (const ReportWarning& warning : compared.comparison.warnings)
    basis.warnings.push_back(warning);
  write_answer_header(json, both.question, after, basis);
  json.field("scale", compare_word(compared.comparison.by));
  json.field("baseline_factor", compared.comparison.baseline_factor);
  json.field("total_before_raw", before.total);
  json.field("total_before", total_before).field("total_after", total_after);
  json.field("total_delta", saturating_subtract(total_after, total_before));
}

namespace {

Result<double> read_share(const ApiCall& call, std::string_view name) {
  const std::string_view text = call.parameter(name);
  double share = 0;
  if (text.empty()) return share;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error == std::errc() && end == text.data() + text.size() && share >= 0 && share <= 1)
    return share;
  return Error{ErrorCode::kUsage, fmt::format("{}: '{}' is not a number from 0 to 1", name, text),
               ""};
}

}  // namespace

Result<ReportOptions> read_report_options(const ApiCall& call, const ProfileType& type) {
  ReportOptions options;
  VESTA_ASSIGN(const std::string format, read_word(call, "format", "json|report|text|csv"));
  options.format = format == "text"  ? ReportFormat::kText
                   : format == "csv" ? ReportFormat::kCsv
                                     : ReportFormat::kJson;
  options.unit = call.parameter("unit");
  if (!options.unit.empty() && parse_unit(options.unit).kind != parse_unit(type.sample_unit).kind) {
    return Error{ErrorCode::kUsage, fmt::format("unit cannot be '{}'", options.unit),
                 fmt::format("the values of this profile are {}", type.sample_unit)};
  }
  VESTA_ASSIGN(options.min_share, read_share(call, "min_share"));
  VESTA_ASSIGN(options.min_edge_share, read_share(call, "min_edge_share"));
  VESTA_ASSIGN(options.style.color, read_flag(call, "color"));
  return options;
}

bool wants_answer(const ApiCall& call) {
  const std::string_view format = call.parameter("format");
  return format.empty() || format == "json";
}

ReportHeader report_header(const Question& question, const Selection& selection,
                           const AnswerBasis& basis, int64_t total) {
  return {.type = question.type.sample_type,
          .unit = question.type.sample_unit,
          .total = total,
          .time_ns = selection.first_ns,
          .duration_ns = selection.covered.duration_ns(),
          .samples = basis.samples.value_or(0),
          .warnings = basis.warnings,
          .losses = selection.losses,
          .named = named_share(selection)};
}

ReportHeader comparison_report_header(const Comparison& both, const ComparedAnswers& compared,
                                      const Selection& after, int64_t total_before,
                                      int64_t total_after) {
  ReportHeader header = report_header(both.question, after, compared.after, total_after);
  header.warnings.clear();
  for (const ReportWarning& warning : compared.before.warnings)
    header.warnings.push_back({warning.code, "before: " + warning.text});
  for (const ReportWarning& warning : compared.after.warnings)
    header.warnings.push_back({warning.code, "after: " + warning.text});
  for (const ReportWarning& warning : compared.comparison.warnings)
    header.warnings.push_back(warning);
  header.has_baseline = true;
  header.baseline_total = total_before;
  header.baseline_samples = compared.before.samples.value_or(0);
  header.baseline_duration_ns = compared.before.duration_ns;
  return header;
}

HttpResponse report_response(std::string body, const ReportOptions& options, bool has_profiles,
                             bool has_rows) {
  HttpResponse response;
  if (options.format != ReportFormat::kJson) {
    response.content_type = options.format == ReportFormat::kCsv ? "text/csv; charset=utf-8"
                                                                 : "text/plain; charset=utf-8";
  }
  response.body = std::move(body);
  say_if_empty(response, has_profiles, has_rows);
  return response;
}

void say_if_empty(HttpResponse& response, bool has_profiles, bool has_rows) {
  if (!has_profiles || !has_rows)
    response.headers.emplace_back(kAnswerHeader, has_profiles ? "filtered" : "empty");
}

HttpResponse file_response(std::string body, const FormatInfo& format) {
  HttpResponse response;
  response.body = std::move(body);
  response.content_type = format.content_type;
  response.compressible = format.name != "pprof";
  // The name is made of words of ours, so that nothing in it needs quoting.
  response.headers.emplace_back("Content-Disposition",
                                fmt::format("attachment; filename=\"profile{}\"", format.ending));
  return response;
}

void write_answer_coverage(JsonWriter& json, const Selection& selection) {
  write_coverage(json, named_share(selection), selection.losses);
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
