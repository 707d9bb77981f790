// A flame graph as binary columns: half the bytes of JSON, and no objects to make in a browser. The
// layout is in docs/formats/flame-columns.md. Pure function.
#pragma once

#include <string>
#include <string_view>

#include "profile/prune.h"

namespace vesta {

inline constexpr std::string_view kFlameColumnsType = "application/vnd.vesta.flame-columns";

struct FlameColumnsOptions {
  bool says_inlined = false;  // the header then has a member `inlined` that is true
  bool whole_names = false;   // as people read them, rather than in parts
};

// `header` is a JSON object.
std::string write_flame_columns(std::string_view header, const FlameTree& tree,
                                const PrunedTree& pruned, const FlameColumnsOptions& options = {});

}  // namespace vesta
