// OTLP has one sample type per Profile, pprof several: what was one pprof becomes one again. Pure
// function.
#pragma once

#include <string_view>
#include <vector>

#include "profile/profile.h"

namespace vesta::otlp {

// Makes one profile of several that say they were one: `order[i]` is the position of the sample
// type of parts[i]. Rows are matched by stack, labels, link and time; where a part has no such row
// its value is 0. Leaves the parts alone and returns false when they cannot have been one.
bool join_sample_types(const Dictionary& dictionary, const std::vector<int64_t>& order,
                       std::string_view default_type, std::vector<Profile>& parts);

}  // namespace vesta::otlp
