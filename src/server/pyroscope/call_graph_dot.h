// Who calls whom, as text for Graphviz. Pure function.
#pragma once

#include <cstddef>
#include <string>

#include "store/selection.h"

namespace vesta::server {

// The `max_nodes` functions with the largest cumulative weight and the calls between them; the
// weights are those of the whole selection.
std::string to_dot(const Selection& selection, size_t max_nodes);

}  // namespace vesta::server
