// Heat maps: how profiles spread over time and size, and how samples spread within each second.
// Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "store/engine.h"

namespace vesta {

struct HeatmapShape {
  TimeRange range;
  int64_t column_ns = 0;
  size_t rows = 0;
};

struct Heatmap {
  int64_t start_ns = 0;
  int64_t column_ns = 0;
  size_t columns = 0;
  size_t rows = 0;
  double row_start = 0;  // lower end of row 0: a value, or nanoseconds into the column
  double row_size = 0;
  struct Cell {
    uint32_t column = 0;
    uint32_t row = 0;
    int64_t value = 0;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  std::vector<Cell> cells;    // those that are not 0, column after column
  std::vector<Cell> matched;  // the same of what is marked
  int64_t total = 0;          // of all cells
  int64_t left_out = 0;       // what has no place: samples without a time, or out of the range
};

// At most a million cells. kUsage beyond, or when the shape makes no sense.
Status check_shape(const HeatmapShape& shape);

// How many profiles started in each column with a value in each row. Rows are equal parts between
// the smallest and the largest value. A profile is marked when some of its weight is.
Result<Heatmap> value_heatmap(std::span<const ProfilePoint> points, const HeatmapShape& shape);

// How much weight each part of a column had, over all columns: with columns of a second, row 10 of
// 50 is what happened 200 to 220 ms into it. First sample type of each profile. `marks`: by stack
// of the dictionary, or nothing.
Result<Heatmap> offset_heatmap(const ProfileBatch& batch, const HeatmapShape& shape,
                               std::span<const uint8_t> marks = {});

}  // namespace vesta
