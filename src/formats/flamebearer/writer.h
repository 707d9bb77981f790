// Writes flamebearer JSON for clients of Pyroscope's render API. Pure functions.
#pragma once

#include <string>

#include "base/json_writer.h"
#include "formats/flamebearer/flame_encoding.h"
#include "profile/profile.h"
#include "profile/profile_types.h"

namespace vesta {

// The tree of the first sample type. Rows with a negative value, for which a flame graph has no
// shape, are left out. A batch without a profile gives an empty graph.
std::string write_flamebearer(const ProfileBatch& batch);

// "version", "flamebearer" and "metadata", as members of the object that is open; the last one's
// object stays open for more. Returns the levels that were written.
FlameLevels write_flame_levels(JsonWriter& json, const FlameBars& bars,
                               const FlamebearerUnits& units, std::string_view name);

}  // namespace vesta
