#include "query/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "store/time_spread.h"

namespace vesta {
namespace {

constexpr uint64_t kMaxCells = 1'000'000;
// Parts of profiles in columns: some seconds of work.
constexpr uint64_t kMaxParts = 50'000'000;

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
  // Of the value, so much is marked.
  void add(uint64_t column, uint64_t row, int64_t value, int64_t marked) {
    const size_t at = column * map_.rows + std::min<uint64_t>(row, map_.rows - 1);
    values_[at] = saturating_add(values_[at], value);
    matched_[at] = saturating_add(matched_[at], marked);
    map_.total = saturating_add(map_.total, value);
  }
  void leave_out(int64_t value) { map_.left_out = saturating_add(map_.left_out, value); }
  void count_profiles() { map_.counts_profiles = true; }
  void set_rows(Heatmap::Rows by, double start, double size) {
    map_.rows_by = by;
    map_.row_start = start;
    map_.row_size = size;
  }
  // The one that holds the height, by the ends that clients ask for regions with.
  uint64_t row_of(double height) const {
    if (map_.row_size <= 0) return 0;
    const auto start_of = [&](uint64_t row) {
      return map_.row_start + static_cast<double>(row) * map_.row_size;
    };
    const double guess = (height - map_.row_start) / map_.row_size;
    auto row = std::min<uint64_t>(static_cast<uint64_t>(std::max(guess, 0.0)), map_.rows - 1);
    while (row > 0 && height < start_of(row)) --row;
    while (row + 1 < map_.rows && height >= start_of(row + 1)) ++row;
    return row;
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

Result<Heatmap> value_heatmap(std::span<const ProfilePoint> points, const HeatmapShape& shape,
                              Temporality temporality) {
  VESTA_TRY(check_shape(shape));
  Cells cells(shape);
  const bool is_gauge = temporality == Temporality::kInstant;
  if (is_gauge) cells.count_profiles();
  const StepGrid grid(shape.range, shape.column_ns);
  const auto is_meant = [&](const ProfilePoint& point) {
    return is_gauge ? shape.range.contains(point.time_ns)
                    : reaches_into(shape.range, point.time_ns, point.duration_ns);
  };
  const bool by_rate = !is_gauge && std::ranges::any_of(points, [&](const ProfilePoint& point) {
    return is_meant(point) && point.duration_ns > 0;
  });
  const auto height_of = [&](const ProfilePoint& point) -> std::optional<double> {
    if (!is_meant(point)) return std::nullopt;
    return by_rate ? rate_of(point.value, point.duration_ns) : static_cast<double>(point.value);
  };
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  uint64_t parts = 0;
  for (const ProfilePoint& point : points) {
    const std::optional<double> height = height_of(point);
    if (!height) continue;
    least = std::min(least, *height);
    most = std::max(most, *height);
    const TimeRange part = overlap(spread_range(point.time_ns, point.duration_ns), shape.range);
    if (!part.empty()) parts += grid.number_of(part.end_ns - 1) - grid.number_of(part.start_ns) + 1;
  }
  if (least > most) return cells.finish();
  if (!is_gauge && parts > kMaxParts) {
    return Error{ErrorCode::kLimit, "too many profiles cover too many columns of the heat map",
                 "use a larger step, or narrow the selector"};
  }
  cells.set_rows(by_rate ? Heatmap::Rows::kRate : Heatmap::Rows::kValue, least,
                 (most - least) / static_cast<double>(shape.rows));
  for (const ProfilePoint& point : points) {
    if (!is_meant(point)) continue;
    const std::optional<double> height = height_of(point);
    if (!height) {
      cells.leave_out(point.value);
      continue;
    }
    const uint64_t row = cells.row_of(*height);
    if (is_gauge) {
      cells.add(cells.column_of(point.time_ns), row, 1, point.marked != 0 ? 1 : 0);
      continue;
    }
    const TimeRange whole = spread_range(point.time_ns, point.duration_ns);
    grid.spread(point.time_ns, point.duration_ns, point.value, [&](uint64_t column, int64_t part) {
      const TimeRange time{grid.start_of(column), grid.end_of(column)};
      const int64_t marked = point.marked == 0 || whole.empty()
                                 ? point.marked
                                 : part_of(point.marked, whole, overlap(time, whole));
      cells.add(column, row, part, marked);
    });
  }
  return cells.finish();
}

Result<Heatmap> offset_heatmap(const ProfileBatch& batch, const HeatmapShape& shape,
                               std::span<const uint8_t> marks) {
  VESTA_TRY(check_shape(shape));
  Cells cells(shape);
  const double size = static_cast<double>(shape.column_ns) / static_cast<double>(shape.rows);
  cells.set_rows(Heatmap::Rows::kOffset, 0, size);
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
      const bool is_marked = stack < marks.size() && marks[stack] != 0;
      cells.add(cells.column_of(time_ns), static_cast<uint64_t>(static_cast<double>(offset) / size),
                value, is_marked ? value : 0);
    }
  }
  return cells.finish();
}

}  // namespace vesta
