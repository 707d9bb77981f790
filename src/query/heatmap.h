// Heat maps: how profiles spread over time and rate, and how samples spread within each second.
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
  // What rows are: the value of profiles per second that they cover, their value, or nanoseconds
  // into the column. Row r holds [row_start + r·row_size, row_start + (r + 1)·row_size), the last
  // one its end too.
  enum class Rows : uint8_t { kRate, kValue, kOffset };
  Rows rows_by = Rows::kValue;
  double row_start = 0;
  double row_size = 0;
  bool counts_profiles = false;  // cells hold numbers of profiles; else weights
  struct Cell {
    uint32_t column = 0;
    uint32_t row = 0;
    int64_t value = 0;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  std::vector<Cell> cells;    // those that are not 0, column after column
  std::vector<Cell> matched;  // the same of what is marked
  int64_t total = 0;          // of all cells
  int64_t left_out = 0;  // what has no place: samples without a time, profiles without a duration
};

// At most a million cells. kUsage beyond, or when the shape makes no sense.
Status check_shape(const HeatmapShape& shape);

// Cumulative types: the weight that falls into each column, of profiles of each rate. A profile is
// spread over the time that it covers, as totals are: cells and what is left out add up to the total
// of the range. Its rate, the value per second, is the same in all of its columns, and can be
// compared whatever its length. Where no profile says how long it took, rows are values, and a
// profile is in the column that it starts in. Marked is the weight that is.
// Instant types: how many profiles start in each column with a value in each row; marked are those
// of which some weight is.
// Rows are equal parts between the smallest and the largest. kLimit when profiles cover too many
// columns.
Result<Heatmap> value_heatmap(std::span<const ProfilePoint> points, const HeatmapShape& shape,
                              Temporality temporality);

// How much weight each part of a column had, over all columns: with columns of a second, row 10 of
// 50 is what happened 200 to 220 ms into it. First sample type of each profile. `marks`: by stack
// of the dictionary, or nothing.
Result<Heatmap> offset_heatmap(const ProfileBatch& batch, const HeatmapShape& shape,
                               std::span<const uint8_t> marks = {});

}  // namespace vesta
