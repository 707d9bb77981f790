// A tree whose first level are the values of a label ("pod=web-1"): which values get a node, and
// what stands below each. Refers to the selections of the sides, which must outlive it. Pure
// functions.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/selection_tree.h"
#include "store/engine.h"

namespace vesta {

// More than a person looks at; the others share a node that says how many they are.
inline constexpr size_t kMaxLabelRoots = 200;

// What is to be taken apart, on one side of a comparison or alone.
struct LabelledSide {
  // By series; Selection::group says the value, and has none where the series has no such label.
  std::vector<Selection> groups;
  // Where no series has the label, or samples are chosen by their own: the same as samples, of one
  // type.
  std::optional<ProfileBatch> samples;
  std::optional<int64_t> total;  // where samples are chosen: of all; shares are of it
};

struct LabelRoots {
  std::vector<TreePart> before;  // empty without a baseline
  std::vector<TreePart> after;
  std::deque<Selection> owned;  // what parts that are no groups refer to
};
// The largest values, by weight on both sides together, have a node each. `before` may be null.
LabelRoots label_roots(std::string_view label, const LabelledSide* before,
                       const LabelledSide& after);

// Selections of different series as one. Services are those of all.
Selection add_up(std::span<const Selection> selections);

}  // namespace vesta
