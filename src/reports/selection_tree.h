// The call tree of a selection, of all its services together. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "profile/flame_tree.h"
#include "profile/frame_name.h"
#include "reports/stack_filter.h"
#include "store/selection.h"

namespace vesta {

struct TreeOptions {
  Granularity group = Granularity::kFunction;
  StackFilter filter;
  bool inlines = true;         // false: functions that were inlined count as their callers
  bool relative = false;       // shares are of what the filter left
  bool marks_inlined = false;  // FlameTree::inlined is wanted

  // The tree by name will do.
  bool by_name() const {
    return group == Granularity::kFunction && filter.empty() && inlines && !marks_inlined;
  }
};

FlameTree build_flame_tree(const Selection& selection, const TreeOptions& options);

// A selection whose stacks stand under a node of that name, which is no frame; under the root when
// the name is empty.
struct TreePart {
  const Selection* selection = nullptr;
  std::string root;
};
FlameTree build_flame_tree(std::span<const TreePart> parts, const TreeOptions& options);

enum class CompareScale {
  kAbsolute,
  kNormalized,  // `after` is scaled so that both totals are equal
};
// Both in one tree: nodes of the same path are one; `weights` are those of `after`. Those of
// `before` are multiplied with the factor.
FlameTree build_flame_tree(const Selection& before, const Selection& after, CompareScale scale,
                           const TreeOptions& options, double baseline_factor = 1);
FlameTree build_flame_tree(std::span<const TreePart> before, std::span<const TreePart> after,
                           CompareScale scale, const TreeOptions& options,
                           double baseline_factor = 1);

}  // namespace vesta
