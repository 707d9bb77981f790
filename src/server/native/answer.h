// Parts that the JSON answers of the native API share. Plain functions that append to a writer.
#pragma once

#include <string_view>

#include "base/json_writer.h"
#include "query/prune.h"
#include "server/native/question.h"

namespace vesta::server {

// "instant" or "cumulative"
std::string_view temporality_word(const ProfileType& type);
// type, unit, total, duration_ns, time_ns, as all reports of Vesta have them; then profile_type,
// temporality, from_ns, to_ns, profiles, services.
void write_answer_header(JsonWriter& json, const Question& question, const Selection& selection);
// "coverage": how much of the weight has a name, and what was lost.
void write_answer_coverage(JsonWriter& json, const Selection& selection);
// name, file, line, binary, kind: where they are known.
void write_frame_name(JsonWriter& json, const FrameNames& names, uint32_t name);
void write_labels(JsonWriter& json, const Labels& labels);

// "nodes" and "cut", as members of the object that is open.
void write_nodes(JsonWriter& json, const FlameTree& tree, const PrunedTree& pruned);

}  // namespace vesta::server
