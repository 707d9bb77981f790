// Tables of functions: of one selection, and of two side by side.
#include <array>

#include "analysis/significance.h"
#include "profile/label_filter.h"
#include "query/coverage.h"
#include "query/function_changes.h"
#include "query/function_table.h"
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

void write_significance(JsonWriter& json, const FunctionRow& row, bool is_known) {
  if (is_known) {
    json.field("p_value", row.p_value).field("q_value", row.q_value);
  } else {
    json.key("p_value").null().key("q_value").null();
  }
  json.field("significant", is_known && row.q_value < kSignificantQ);
}

Result<HttpResponse> top(const ApiCall& call) {
  VESTA_ASSIGN(const TreeOptions options, read_tree_options(call));
  VESTA_ASSIGN(const RowChoice choice, read_choice(call, "flat|cum"));
  VESTA_ASSIGN(const Question question, read_question(call));
  VESTA_ASSIGN(const Selection selection, select(call, question));
  VESTA_ASSIGN(const AnswerBasis basis, read_basis(call, question, selection));
  const FunctionTable table = top_functions(selection, options, choice);
  JsonWriter json;
  json.begin_object();
  write_answer_header(json, question, selection, basis);
  json.key("rows").begin_array();
  for (const FunctionRow& row : table.rows) {
    json.begin_object();
    write_frame_name(json, *table.names, row.name);
    json.field("flat", row.flat).field("cum", row.cum);
    json.field("callers", uint64_t{row.callers}).end_object();
  }
  json.end_array().key("cut").begin_object().field("rows", table.cut_rows);
  json.field("flat", table.cut_flat).end_object();
  write_answer_coverage(json, selection);
  return json_response(json.end_object().take());
}

Result<HttpResponse> diff(const ApiCall& call) {
  VESTA_ASSIGN(const TreeOptions options, read_tree_options(call));
  VESTA_ASSIGN(const RowChoice choice, read_choice(call, "flat|cum|delta|flat_delta|cum_delta"));
  VESTA_ASSIGN(const std::string change,
               read_word(call, "change", "all|new|removed|changed|significant"));
  VESTA_ASSIGN(const Comparison both, read_comparison(call));
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
  choose_rows(table, choice);
  JsonWriter json;
  json.begin_object();
  write_comparison_header(json, both, compared, before, after, table.baseline_whole, table.whole);
  json.field("samples_before", samples.before).field("samples_after", samples.after);
  json.field("significance", samples.known() ? "known" : "unknown");
  json.key("baseline").begin_object();
  write_answer_header(json, both.baseline, before, compared.before);
  json.end_object().key("rows").begin_array();
  for (const FunctionRow& row : table.rows) {
    json.begin_object();
    write_frame_name(json, *table.names, row.name);
    json.field("flat_before", row.baseline_flat).field("flat_after", row.flat);
    json.field("flat_delta", row.flat_delta());
    json.field("cum_before", row.baseline_cum).field("cum_after", row.cum);
    json.field("cum_delta", row.cum_delta());
    json.field("change", change_word(change_of(row)));
    write_significance(json, row, samples.known());
    json.end_object();
  }
  json.end_array().key("cut").begin_object().field("rows", table.cut_rows);
  json.field("flat_delta", table.cut_flat_delta).end_object();
  write_answer_coverage(json, after);
  return json_response(json.end_object().take());
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
      ApiRoute{
          "GET",
          "/api/v1/top",
          Scope::kRead,
          {kSeriesParameters, kSampleParameters, kStackParameters, "group order rows offset match"},
          top},
      ApiRoute{"GET",
               "/api/v1/diff",
               Scope::kRead,
               {kSeriesParameters, kSampleParameters, kStackParameters, kBaselineParameters,
                "scale group order rows offset match change"},
               diff},
      ApiRoute{"GET",
               "/api/v1/coverage",
               Scope::kRead,
               {kSeriesParameters, kSampleParameters},
               coverage},
  };
  return kRoutes;
}

}  // namespace vesta::server
