// Parts that the JSON answers of the native API share. Plain functions that append to a writer.
#pragma once

#include <string_view>

#include "base/json_writer.h"
#include "query/answer_basis.h"
#include "query/prune.h"
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
// name, file, line, binary, kind: where they are known.
void write_frame_name(JsonWriter& json, const FrameNames& names, uint32_t name);
void write_labels(JsonWriter& json, const Labels& labels);

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

// "nodes" and "cut", as members of the object that is open.
void write_nodes(JsonWriter& json, const FlameTree& tree, const PrunedTree& pruned);

}  // namespace vesta::server
