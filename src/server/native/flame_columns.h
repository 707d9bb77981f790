// A flame graph as binary columns: half the bytes of JSON, and no objects to make in a browser. The
// layout is in docs/formats/flame-columns.md. Pure function.
#pragma once

#include <string>
#include <string_view>

#include "query/prune.h"

namespace vesta::server {

inline constexpr std::string_view kFlameColumnsType = "application/vnd.vesta.flame-columns";

// `header` is a JSON object.
std::string write_flame_columns(std::string_view header, const FlameTree& tree,
                                const PrunedTree& pruned);

}  // namespace vesta::server
