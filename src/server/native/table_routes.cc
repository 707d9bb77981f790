// Tables of functions: of one selection, with callers and callees, and of two side by side.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <optional>

#include "profile/label_filter.h"
#include "reports/call_graph.h"
#include "reports/coverage.h"
#include "reports/function_changes.h"
#include "reports/function_table.h"
#include "server/native/answer.h"

namespace vesta::server {
namespace {

constexpr size_t kMostRows = 1'000'000;

// `order`, `rows`, `offset` and `match`.
Result<RowChoice> read_choice(const ApiCall& call, std::string_view orders) {
  RowChoice choice;
  VESTA_ASSIGN(const std::string order, read_word(call, "order", orders));
  choice.order = order.starts_with("cum") ? TopOrder::kByCum : TopOrder::kByFlat;
  VESTA_ASSIGN(choice.limit, read_count(call, "rows", 100, kMostRows));
  VESTA_ASSIGN(choice.offset, read_count(call, "offset", 0, SIZE_MAX));
  if (const std::string_view match = call.parameter("match"); !match.empty()) {
    VESTA_ASSIGN(choice.match, compile_regex(match, "match"));
  }
  return choice;
}

Result<HttpResponse> top(const ApiCall& call) {
  VESTA_ASSIGN(const TreeOptions options, read_tree_options(call));
  VESTA_ASSIGN(RowChoice choice, read_choice(call, "flat|cum"));
  VESTA_ASSIGN(Asked asked, read_asked(call, 0, select));
  choice.min_share = asked.report.min_share;
  choice.marks_inlined = asked.report.format == ReportFormat::kText;
  FunctionTable table = top_functions(asked.selection, options, choice);
  table.counts_callers = wants_answer(call);
  return report_answer(
      call, asked, table.whole, !table.rows.empty() || table.cut_rows != 0,
      [&](const ReportHeader& header) { return top_report(header, table, asked.report); },
      [&](JsonWriter& json) { write_top_rows(json, table); });
}

Result<HttpResponse> graph(const ApiCall& call) {
  VESTA_ASSIGN(TreeOptions options, read_tree_options(call));
  options.marks_inlined = true;
  VESTA_ASSIGN(const RowChoice choice, read_choice(call, "flat|cum"));
  VESTA_ASSIGN(Asked asked, read_asked(call, choice.limit, select));
  const CallGraph graph =
      build_call_graph(build_flame_tree(asked.selection, options), choice.order);
  const FunctionTable& nodes = graph.nodes;
  const auto matches = [&](const FunctionRow& row) {
    return RE2::PartialMatch(nodes.names->text(row.name), *choice.match);
  };
  if (choice.match && !nodes.rows.empty() && std::ranges::none_of(nodes.rows, matches)) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("no function matches '{}'", call.parameter("match")),
                 "/api/v1/top lists the functions"};
  }
  const ReportHeader header =
      report_header(asked.question, asked.selection, asked.basis, nodes.whole);
  return report_answer(
      call, asked, nodes.whole, !nodes.rows.empty(),
      [&](const ReportHeader&) {
        return graph_report(header, graph, choice.match.get(), asked.report);
      },
      [&](JsonWriter& json) {
        write_graph_rows(json, header, graph, choice.match.get(), asked.report);
      });
}

// `order` of a comparison: by the size of the change, or what grew first.
std::optional<ChangeOrder> growth_order(std::string_view word) {
  if (word == "growth") return ChangeOrder::kFlat;
  if (word == "cum_growth") return ChangeOrder::kCum;
  if (word == "relative_growth") return ChangeOrder::kRelative;
  return std::nullopt;
}

Result<HttpResponse> diff(const ApiCall& call) {
  VESTA_ASSIGN(const TreeOptions options, read_tree_options(call));
  VESTA_ASSIGN(
      RowChoice choice,
      read_choice(call, "flat|cum|delta|flat_delta|cum_delta|growth|cum_growth|relative_growth"));
  VESTA_ASSIGN(const std::string change,
               read_word(call, "change", "all|new|removed|changed|significant"));
  VESTA_ASSIGN(const Comparison both, read_comparison(call));
  VESTA_ASSIGN(const ReportOptions report, read_report_options(call, both.question.type));
  VESTA_ASSIGN(const Selection after, select(call, both.question));
  VESTA_ASSIGN(const Selection before, select(call, both.baseline));
  VESTA_ASSIGN(const ComparedAnswers compared, read_compared(call, both, before, after));
  FunctionTable table = function_table(build_flame_tree(before, after, compared.scale(), options,
                                                        compared.comparison.baseline_factor));
  ComparedSamples samples = compared_samples(before, after);
  if (compared.comparison.by == CompareBy::kRate) {
    samples.before_ns = compared.before.duration_ns;
    samples.after_ns = compared.after.duration_ns;
  }
  test_changes(table, samples);
  keep_changes(table, change);
  const bool has_rows = !table.rows.empty();
  if (const auto growth = growth_order(call.parameter("order"))) {
    choose_changes(table, *growth, choice.limit, report.min_share);
  } else {
    choice.min_share = report.min_share;
    choose_rows(table, choice);
  }
  std::string body;
  if (wants_answer(call)) {
    JsonWriter json;
    json.begin_object();
    write_comparison_header(json, both, compared, before, after, table.baseline_whole, table.whole);
    json.field("samples_before", samples.before).field("samples_after", samples.after);
    json.field("significance", significance_word(table));
    json.key("baseline").begin_object();
    write_answer_header(json, both.baseline, before, compared.before);
    json.end_object();
    write_diff_rows(json, table);
    write_answer_coverage(json, after);
    body = json.end_object().take();
  } else {
    body = diff_report(
        comparison_report_header(both, compared, after, table.baseline_whole, table.whole), table,
        report);
  }
  return report_response(std::move(body), report, before.profiles != 0 && after.profiles != 0,
                         has_rows);
}

Result<HttpResponse> coverage(const ApiCall& call) {
  VESTA_ASSIGN(const Question question, read_question(call));
  VESTA_ASSIGN(const Selection selection, select(call, question));
  VESTA_ASSIGN(const AnswerBasis basis, read_basis(call, question, selection));
  const Coverage found = coverage_of(selection);
  JsonWriter json;
  json.begin_object();
  write_answer_header(json, question, selection, basis);
  json.field("named", found.named).field("named_frames", found.named_frames);
  json.field("complete", found.complete).key("marks").begin_array();
  for (const Coverage::Mark& mark : found.marks)
    json.begin_object().field("name", mark.name).field("weight", mark.weight).end_object();
  json.end_array().key("unnamed_binaries").begin_array();
  for (const Coverage::Binary& binary : found.unnamed_binaries) {
    json.begin_object().field("binary", binary.path).field("build_id", binary.build_id);
    json.field("weight", binary.unnamed).end_object();
  }
  json.end_array().key("losses").begin_array();
  for (const LossCount& loss : found.losses)
    json.begin_object().field("reason", loss.reason).field("count", loss.count).end_object();
  return json_response(json.end_array().end_object().take());
}

}  // namespace

std::span<const ApiRoute> table_routes() {
  static const std::array kRoutes = {
      get_route("/api/v1/top",
                {kSelectionParameters, kLabelFrameParameters, kStackParameters, kReportParameters,
                 "order rows offset match"},
                top),
      get_route("/api/v1/graph",
                {kSelectionParameters, kLabelFrameParameters, kStackParameters, kReportParameters,
                 "min_edge_share order rows match"},
                graph),
      get_route("/api/v1/diff",
                {kSelectionParameters, kLabelFrameParameters, kStackParameters, kBaselineParameters,
                 kReportParameters, "scale order rows offset match change"},
                diff),
      get_route("/api/v1/coverage", {kSelectionParameters}, coverage),
  };
  return kRoutes;
}

}  // namespace vesta::server
