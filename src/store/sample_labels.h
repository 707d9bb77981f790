// What engines share about labels of samples. Pure functions.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "store/selector.h"

namespace vesta {

// Whether people would look for a sample by this label.
bool names_something(LabelKind kind, std::string_view name);

// Of SampleFilter::either, what a series leaves to its samples: by matcher, whether they are asked.
// Nothing when the series itself fails.
std::optional<std::vector<bool>> left_to_samples(const Selector& either, const Labels& series);

// Labels of a sample that a series has not, of these names; in order, each once, none empty.
Labels own_labels(const Labels& sample, const Labels& series,
                  const std::vector<std::string>& names);

// Both in order of names; no name is in both.
Labels joined(const Labels& a, const Labels& b);

}  // namespace vesta
