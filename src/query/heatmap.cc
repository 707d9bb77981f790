#include "query/heatmap.h"

#include <fmt/format.h>

#include <algorithm>

namespace vesta {
namespace {

constexpr uint64_t kMaxCells = 1'000'000;

uint64_t column_count(const HeatmapShape& shape) {
  const auto length =
      static_cast<uint64_t>(shape.range.end_ns) - static_cast<uint64_t>(shape.range.start_ns);
  const auto column = static_cast<uint64_t>(shape.column_ns);
  return length / column + (length % column == 0 ? 0 : 1);
}

class Cells {
 public:
  explicit Cells(const HeatmapShape& shape) : shape_(shape) {
    map_.start_ns = shape.range.start_ns;
    map_.column_ns = shape.column_ns;
    map_.columns = column_count(shape);
    map_.rows = shape.rows;
    values_.resize(map_.columns * map_.rows);
    matched_.resize(values_.size());
  }

  // Nanoseconds from the start of the range. REQUIRES: it contains the time
  uint64_t since_start(int64_t time_ns) const {
    return static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(shape_.range.start_ns);
  }
  uint64_t column_of(int64_t time_ns) const {
    return since_start(time_ns) / static_cast<uint64_t>(shape_.column_ns);
  }
  void add(uint64_t column, uint64_t row, int64_t value, bool is_marked) {
    const size_t at = column * map_.rows + std::min<uint64_t>(row, map_.rows - 1);
    values_[at] = saturating_add(values_[at], value);
    if (is_marked) matched_[at] = saturating_add(matched_[at], value);
    map_.total = saturating_add(map_.total, value);
  }
  void leave_out(int64_t value) { map_.left_out = saturating_add(map_.left_out, value); }
  void set_rows(double start, double size) {
    map_.row_start = start;
    map_.row_size = size;
  }

  Heatmap finish() {
    list(values_, map_.cells);
    list(matched_, map_.matched);
    return std::move(map_);
  }

 private:
  void list(const std::vector<int64_t>& values, std::vector<Heatmap::Cell>& cells) const {
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] == 0) continue;
      cells.push_back(
          {static_cast<uint32_t>(i / map_.rows), static_cast<uint32_t>(i % map_.rows), values[i]});
    }
  }

  const HeatmapShape& shape_;
  Heatmap map_;
  std::vector<int64_t> values_;
  std::vector<int64_t> matched_;
};

}  // namespace

Status check_shape(const HeatmapShape& shape) {
  if (shape.range.empty() || shape.column_ns <= 0 || shape.rows == 0)
    return Error{ErrorCode::kUsage, "the heat map has no columns or no rows", ""};
  const uint64_t columns = column_count(shape);
  if (shape.rows > kMaxCells || columns > kMaxCells || columns * shape.rows > kMaxCells) {
    return Error{ErrorCode::kUsage,
                 fmt::format("a heat map of {} columns and {} rows exceeds the limit of {} cells",
                             columns, shape.rows, kMaxCells),
                 "use a shorter range, a larger step or fewer rows"};
  }
  return {};
}

Result<Heatmap> value_heatmap(std::span<const ProfilePoint> points, const HeatmapShape& shape) {
  VESTA_TRY(check_shape(shape));
  Cells cells(shape);
  int64_t least = INT64_MAX;
  int64_t most = INT64_MIN;
  for (const ProfilePoint& point : points) {
    if (!shape.range.contains(point.time_ns)) continue;
    least = std::min(least, point.value);
    most = std::max(most, point.value);
  }
  if (least > most) return cells.finish();
  const double start = static_cast<double>(least);
  const double size = (static_cast<double>(most) - start) / static_cast<double>(shape.rows);
  cells.set_rows(start, size);
  for (const ProfilePoint& point : points) {
    if (!shape.range.contains(point.time_ns)) {
      cells.leave_out(1);
      continue;
    }
    const double row = size > 0 ? (static_cast<double>(point.value) - start) / size : 0;
    cells.add(cells.column_of(point.time_ns), static_cast<uint64_t>(std::max(row, 0.0)), 1,
              point.marked != 0);
  }
  return cells.finish();
}

Result<Heatmap> offset_heatmap(const ProfileBatch& batch, const HeatmapShape& shape,
                               std::span<const uint8_t> marks) {
  VESTA_TRY(check_shape(shape));
  Cells cells(shape);
  const double size = static_cast<double>(shape.column_ns) / static_cast<double>(shape.rows);
  cells.set_rows(0, size);
  for (const Profile& profile : batch.profiles) {
    if (profile.sample_types.empty()) continue;
    for (size_t row = 0; row < profile.samples.size(); ++row) {
      const int64_t time_ns = profile.samples.time_ns(row);
      const int64_t value = profile.value(row, 0);
      if (time_ns == 0 || !shape.range.contains(time_ns)) {
        cells.leave_out(value);
        continue;
      }
      const size_t stack = profile.samples.stacks[row].index();
      const uint64_t offset = cells.since_start(time_ns) % static_cast<uint64_t>(shape.column_ns);
      cells.add(cells.column_of(time_ns), static_cast<uint64_t>(static_cast<double>(offset) / size),
                value, stack < marks.size() && marks[stack] != 0);
    }
  }
  return cells.finish();
}

}  // namespace vesta
