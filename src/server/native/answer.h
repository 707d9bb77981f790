// Parts that the JSON answers of the native API share. Plain functions that append to a writer.
#pragma once

#include <optional>
#include <string_view>
#include <utility>

#include "base/json_writer.h"
#include "base/labels.h"
#include "formats/registry.h"
#include "profile/prune.h"
#include "reports/answer_basis.h"
#include "reports/print/report.h"
#include "server/api.h"
#include "server/native/question.h"

namespace vesta::server {

// "instant" or "cumulative"
std::string_view temporality_word(const ProfileType& type);
// What the selection rests on. Asks the engine how much of the range is covered.
Result<AnswerBasis> read_basis(const ApiCall& call, const Question& question,
                               const Selection& selection);
// type, unit, total, duration_ns, time_ns, as all reports of Vesta have them; then profile_type,
// temporality, from_ns, to_ns, profiles, services; then samples, covered_ns, instances, warnings.
void write_answer_header(JsonWriter& json, const Question& question, const Selection& selection,
                         const AnswerBasis& basis);
// "coverage": how much of the weight has a name, and what was lost.
void write_answer_coverage(JsonWriter& json, const Selection& selection);
void write_labels(JsonWriter& json, const Labels& labels);
// null without a value.
template <class Value>
void write_optional(JsonWriter& json, std::string_view key, const std::optional<Value>& value) {
  if (value) {
    json.field(key, *value);
  } else {
    json.key(key).null();
  }
}

// How a report is to be printed: `format` (json, report, text or csv), `unit`, `min_share`,
// `min_edge_share`, `color`. kUsage
// for a unit that values of the type cannot have.
Result<ReportOptions> read_report_options(const ApiCall& call, const ProfileType& type);
// Whether it is wanted as an answer of the API: JSON that says all about the question, while
// `report` is the JSON that commands print.
bool wants_answer(const ApiCall& call);
// What a report says first unless it is such an answer.
ReportHeader report_header(const Question& question, const Selection& selection,
                           const AnswerBasis& basis, int64_t total);
// What says that there is nothing to report on, and whether the filters are why; nothing else does
// in text and CSV. Values are "empty" and "filtered".
inline constexpr std::string_view kAnswerHeader = "Vesta-Answer";
void say_if_empty(HttpResponse& response, bool has_profiles, bool has_rows);
HttpResponse report_response(std::string body, const ReportOptions& options, bool has_profiles,
                             bool has_rows);
// A file of that format, to be saved.
HttpResponse file_response(std::string body, const FormatInfo& format);

// What a report of one selection is made of, and what it says first.
struct Asked {
  Question question;
  ReportOptions report;
  Selection selection;
  AnswerBasis basis;
};
// `select_stacks(call, question)` chooses what is selected. `rows` is as many as it says unless the
// parameter does.
template <class Select>
Result<Asked> read_asked(const ApiCall& call, size_t rows, Select&& select_stacks) {
  Asked asked;
  VESTA_ASSIGN(asked.question, read_question(call));
  VESTA_ASSIGN(asked.report, read_report_options(call, asked.question.type));
  VESTA_ASSIGN(asked.report.max_rows, read_count(call, "rows", rows, SIZE_MAX));
  VESTA_ASSIGN(asked.selection, select_stacks(call, asked.question));
  VESTA_ASSIGN(asked.basis, read_basis(call, asked.question, asked.selection));
  return asked;
}

// The report as commands print it, or as an answer with the rows that `write_rows(json)` writes.
// Shares are of the total.
template <class Print, class WriteRows>
HttpResponse report_answer(const ApiCall& call, Asked& asked, int64_t total, bool has_rows,
                           Print&& print, WriteRows&& write_rows) {
  std::string body;
  if (wants_answer(call)) {
    asked.selection.total = total;
    JsonWriter json;
    json.begin_object();
    write_answer_header(json, asked.question, asked.selection, asked.basis);
    write_rows(json);
    write_answer_coverage(json, asked.selection);
    body = json.end_object().take();
  } else {
    body = print(report_header(asked.question, asked.selection, asked.basis, total));
  }
  return report_response(std::move(body), asked.report, asked.selection.profiles != 0, has_rows);
}

// Two answers side by side: what each rests on, and how they are made comparable, as `scale` asks
// for ("rate", "absolute", "normalized").
struct ComparedAnswers {
  AnswerBasis before;
  AnswerBasis after;
  ComparisonBasis comparison;
  CompareScale scale() const {
    return comparison.by == CompareBy::kShare ? CompareScale::kNormalized : CompareScale::kAbsolute;
  }
};
Result<ComparedAnswers> read_compared(const ApiCall& call, const Comparison& both,
                                      const Selection& before, const Selection& after);
// The header of `after` with the warnings of the comparison, then scale, baseline_factor,
// total_before_raw, total_before, total_after, total_delta.
void write_comparison_header(JsonWriter& json, const Comparison& both,
                             const ComparedAnswers& compared, const Selection& before,
                             const Selection& after, int64_t total_before, int64_t total_after);

// The same header for text and CSV: warnings of both sides and of the comparison.
ReportHeader comparison_report_header(const Comparison& both, const ComparedAnswers& compared,
                                      const Selection& after, int64_t total_before,
                                      int64_t total_after);

// "nodes" and "cut", as members of the object that is open.
void write_nodes(JsonWriter& json, const FlameTree& tree, const PrunedTree& pruned);

}  // namespace vesta::server
