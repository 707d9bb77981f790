// Writes flamebearer JSON for clients of Pyroscope's render API. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "profile/profile.h"

namespace vesta {

struct FlamebearerOptions {
  size_t profile = 0;
  size_t type = 0;
  // Bars smaller than the max_nodes-th largest become one bar `other` per parent, the shape that
  // Pyroscope has. 0 keeps all.
  size_t max_nodes = 0;
  std::string_view name;      // metadata.name; the profile's own when empty
  std::string_view app_name;  // metadata.appName
};

// The tree of one sample type. Rows with a negative value, for which a flame graph has no shape,
// are left out. A batch without such profile or type gives an empty graph.
std::string write_flamebearer(const ProfileBatch& batch, const FlamebearerOptions& options = {});

}  // namespace vesta
