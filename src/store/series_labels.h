// Which series a profile belongs to: the labels that every engine gives it, so that all engines
// name the same series alike. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "store/selection.h"
#include "store/selector.h"

namespace vesta {

inline constexpr std::string_view kUnknownService = "unknown_service";

// REQUIRES: type < profile.sample_types.size()
ProfileType profile_type_of(const Dictionary& dictionary, const Profile& profile, size_t type);

// The text labels of the resource that are not empty, with the service's name and the labels made
// from the type, whose names belong to the store: what a client sends under them is left out. Of
// two labels with one name the first counts.
Labels series_labels(const Dictionary& dictionary, const Profile& profile, const ProfileType& type);

// Whether a label is made by the store: __name__, __profile_type__ and so on.
bool is_system_label(std::string_view name);

// The labels of a group; `names` in any order, empty values left out.
Labels group_labels(const Labels& labels, const std::vector<std::string>& names);

}  // namespace vesta
