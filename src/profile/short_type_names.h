// The words by which people call types of profiles, whatever the profiles call them. Pure function.
#pragma once

#include <string_view>
#include <vector>

namespace vesta {

// "cpu", "off-cpu", … as find_type() in profile/merged_profile.h knows them.
std::vector<std::string_view> short_type_names();

}  // namespace vesta
