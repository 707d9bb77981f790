// Flame graphs as one file each: an SVG that is also a still picture, and an HTML page for large
// profiles. Pure functions of their arguments: the same input gives the same bytes. Both show a
// difference (red more, blue less) when the tree has a baseline.
#pragma once

#include <string>

#include "profile/flame_tree.h"
#include "profile/report_header.h"

namespace vesta {

enum class FlameDirection {
  kIcicle,  // root on top
  kFlame,   // root at the bottom
};

struct FlamegraphOptions {
  std::string title;  // empty: made from the type of the profile
  FlameDirection direction = FlameDirection::kIcicle;
  // From the leaves: callers stand on the functions that ran.
  bool inverted = false;

  // SVG only; the page has the width of its window and draws what is visible.
  int width_px = 1200;
  double min_width_px = 0.1;  // narrower frames are left out, and the picture says how many
};

// Trees are top-down. The header says the totals that shares are of. Opens from a file without network
// access; zooms, searches and explains frames by its own script, and is a complete picture where
// scripts do not run.
std::string write_flamegraph_svg(const ReportHeader& header, const FlameTree& tree,
                                 const FlamegraphOptions& options);

// Holds the whole tree, whatever its size. Bottom-up and sandwich views are computed in the page.
std::string write_flamegraph_html(const ReportHeader& header, const FlameTree& tree,
                                  const FlamegraphOptions& options);

}  // namespace vesta
