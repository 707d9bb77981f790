// The labels that Pyroscope's Java agent sends beside a recording, because events carry numbers
// only: context ids stand for sets of labels. Pure function.
#pragma once

#include <string_view>

#include "base/result.h"
#include "profile/profile.h"

namespace vesta::pyroscope {

// Replaces `context_id` and `span_name_id` of the samples by what the message says; numbers that it
// does not know are left out. The message: 1 = map of context id to context, 2 = map of id to
// string; a context: 1 = map of key's id to value's id.
Status apply_jfr_labels(ProfileBatch& batch, std::string_view message);

// Pyroscope's types of a recording are these without the counts of samples beside times.
void drop_sample_counts(ProfileBatch& batch);

}  // namespace vesta::pyroscope
