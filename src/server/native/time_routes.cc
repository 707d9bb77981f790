// Over time: totals of groups of series, heat maps.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/time.h"
#include "base/time_words.h"
#include "profile/frame_filter.h"
#include "query/heatmap.h"
#include "reports/stack_filter.h"
#include "server/native/answer.h"
#include "store/stack_tree.h"
#include "store/time_spread.h"

namespace vesta::server {
namespace {

constexpr uint64_t kMostBuckets = 11'000;

// A step that people can read off an axis, so that there are at most some hundreds of them.
int64_t fitting_step(TimeRange range) {
  constexpr std::array<int64_t, 9> kSteps = {30, 60, 300, 600, 1800, 3600, 21'600, 86'400, 604'800};
  constexpr uint64_t kWanted = 300;
  for (const int64_t step : kSteps) {
    const auto length = static_cast<uint64_t>(range.end_ns) - static_cast<uint64_t>(range.start_ns);
    if (length / static_cast<uint64_t>(step * kSecond) <= kWanted) return step * kSecond;
  }
  return kSteps.back() * kSecond;
}

Result<int64_t> read_step(const ApiCall& call, TimeRange range) {
  int64_t step = fitting_step(range);
  if (const std::string_view text = call.parameter("step"); !text.empty()) {
    VESTA_ASSIGN(step, parse_span_word(text, "step"));
  }
  const auto length = static_cast<uint64_t>(range.end_ns) - static_cast<uint64_t>(range.start_ns);
  if (length / static_cast<uint64_t>(step) > kMostBuckets) {
    return Error{ErrorCode::kUsage,
                 fmt::format("step: the answer would exceed {} points", kMostBuckets),
                 "use a larger step or a shorter range"};
  }
  return step;
}

int64_t total_of(const TotalsSeries& series) {
  int64_t total = 0;
  for (const TotalsPoint& point : series.points) total = saturating_add(total, point.value);
  return total;
}

// What a value is divided by: how much of the bucket has data. Profiles that do not say how long
// they took stand for the whole bucket, of which the last one may be cut short.
double seconds_of(const TotalsPoint& point, int64_t step_ns, TimeRange range) {
  const int64_t length = std::min(step_ns, saturating_subtract(range.end_ns, point.time_ns));
  const int64_t divisor = point.covered_ns > 0 ? point.covered_ns : length;
  return static_cast<double>(std::max<int64_t>(divisor, 1)) / static_cast<double>(kSecond);
}

void write_points(JsonWriter& json, const TotalsSeries& series, const TotalsRequest& request) {
  const auto column = [&](std::string_view name, auto&& value) {
    json.key(name).begin_array();
    for (const TotalsPoint& point : series.points) json.number(value(point));
    json.end_array();
  };
  column("times_ns", [](const TotalsPoint& p) { return p.time_ns; });
  column("values", [](const TotalsPoint& p) { return p.value; });
  if (request.type.temporality() == Temporality::kCumulative) {
    column("rates", [&](const TotalsPoint& p) {
      return static_cast<double>(p.value) / seconds_of(p, request.step_ns, request.range);
    });
  }
  column("profiles", [](const TotalsPoint& p) { return p.profiles; });
  column("covered_ns", [](const TotalsPoint& p) { return p.covered_ns; });
}

Result<HttpResponse> totals(const ApiCall& call) {
  VESTA_ASSIGN(const size_t limit, read_count(call, "limit", 100, 100'000));
  VESTA_ASSIGN(const Question question, read_question(call));
  TotalsRequest request;
  request.type = question.type;
  request.selector = question.selector;
  request.range = question.range;
  request.budget = call.context.budget();
  VESTA_ASSIGN(request.step_ns, read_step(call, question.range));
  for (const std::string_view label : call.request.parameters("group_by"))
    request.group_by.emplace_back(label);
  VESTA_ASSIGN(SelectRequest select, select_request(call, question));
  request.samples = std::move(select.samples);
  VESTA_ASSIGN(const StackFilter filter, StackFilter::compile(read_filters(call)));
  if (!filter.empty())
    request.stacks = [&](const StackTree& tree) { return passing_stacks(tree, filter); };
  VESTA_ASSIGN(auto series, call.engine().totals(call.caller.tenant, request));
  std::ranges::stable_sort(series, [](const TotalsSeries& a, const TotalsSeries& b) {
    return saturating_abs(total_of(a)) > saturating_abs(total_of(b));
  });
  const size_t shown = limit == 0 ? series.size() : std::min(limit, series.size());
  const bool is_gauge = request.type.temporality() == Temporality::kInstant;
  JsonWriter json;
  json.begin_object().field("type", request.type.sample_type);
  json.field("unit", request.type.sample_unit).field("profile_type", request.type.id());
  json.field("temporality", is_gauge ? "instant" : "cumulative");
  json.field("from_ns", request.range.start_ns).field("to_ns", request.range.end_ns);
  json.field("step_ns", request.step_ns).key("series").begin_array();
  for (size_t i = 0; i < shown; ++i) {
    json.begin_object();
    write_labels(json, series[i].group);
    // A gauge has no total over time.
    if (!is_gauge) json.field("total", total_of(series[i]));
    write_points(json, series[i], request);
    json.end_object();
  }
  json.end_array().key("cut").begin_object();
  json.field("series", uint64_t{series.size() - shown});
  if (!is_gauge) {
    int64_t cut = 0;
    for (size_t i = shown; i < series.size(); ++i) cut = saturating_add(cut, total_of(series[i]));
    json.field("total", cut);
  }
  return json_response(json.end_object().end_object().take());
}

void write_cells(JsonWriter& json, std::string_view name, const std::vector<Heatmap::Cell>& cells) {
  json.key(name).begin_array();
  for (const Heatmap::Cell& cell : cells) {
    json.begin_array().number(uint64_t{cell.column}).number(uint64_t{cell.row});
    json.number(cell.value).end_array();
  }
  json.end_array();
}

std::string_view rows_word(Heatmap::Rows rows) {
  switch (rows) {
    case Heatmap::Rows::kRate:
      return "rate";
    case Heatmap::Rows::kValue:
      return "value";
    case Heatmap::Rows::kOffset:
      return "offset";
  }
  return "";
}

void write_heatmap(JsonWriter& json, const Heatmap& map) {
  json.field("start_ns", map.start_ns).field("column_ns", map.column_ns);
  json.field("columns", uint64_t{map.columns}).field("rows", uint64_t{map.rows});
  json.field("rows_by", rows_word(map.rows_by));
  json.field("cells_are", map.counts_profiles ? "profiles" : "weight");
  json.field("row_start", map.row_start).field("row_size", map.row_size);
  json.field("cell_total", map.total).field("left_out", map.left_out);
  write_cells(json, "cells", map.cells);
}

// `match` as a filter that lets stacks with a matching frame pass.
Result<StackFilter> read_match(const ApiCall& call) {
  const std::string match(call.parameter("match"));
  if (match.empty()) return StackFilter();
  VESTA_TRY(compile_regex(match, "match"));
  FrameFilters filters;
  filters.focus = {match};
  return StackFilter::compile(filters);
}

// By stack of the dictionary: whether it has a frame that matches. Nothing without an expression.
Result<std::vector<uint8_t>> marked_stacks(const Dictionary& dictionary, std::string_view match) {
  std::vector<uint8_t> marks;
  if (match.empty()) return marks;
  FrameFilters filters;
  filters.focus = {std::string(match)};
  VESTA_ASSIGN(const FrameFilter filter, FrameFilter::compile(dictionary, filters, "", ""));
  std::vector<LocationId> kept;
  marks.resize(dictionary.stacks.size());
  for (size_t stack = 1; stack < marks.size(); ++stack)
    marks[stack] = filter.apply(dictionary.stacks[StackId(stack)], kept) ? 1 : 0;
  return marks;
}

Result<Heatmap> heatmap_of_values(const ApiCall& call, const Question& question,
                                  const HeatmapShape& shape) {
  PointsRequest request;
  request.type = question.type;
  request.selector = question.selector;
  request.range = question.range;
  request.budget = call.context.budget();
  VESTA_ASSIGN(request.by_span, read_flag(call, "by_span"));
  VESTA_ASSIGN(const StackFilter match, read_match(call));
  if (!match.empty())
    request.marks = [&](const StackTree& tree) { return passing_stacks(tree, match); };
  request.overlapping = question.type.temporality() == Temporality::kCumulative;
  VESTA_ASSIGN(const auto totals, read_value_range(call));
  VESTA_ASSIGN(const auto rates, read_rate_range(call, question.type));
  VESTA_ASSIGN(auto points, call.engine().points(call.caller.tenant, request));
  std::erase_if(points, [&](const ProfilePoint& point) {
    if (totals && !totals->contains(point.value)) return true;
    if (!rates) return false;
    const std::optional<double> rate = rate_of(point.value, point.duration_ns);
    return !rate || !rates->contains(*rate);
  });
  return value_heatmap(points, shape, question.type.temporality());
}

Result<Heatmap> heatmap_of_offsets(const ApiCall& call, const Question& question,
                                   const HeatmapShape& shape) {
  SamplesRequest request;
  VESTA_ASSIGN(request.select, select_request(call, question));
  if (request.select.rates) {
    return Error{ErrorCode::kUsage, "rate_min and rate_max are for kind=value",
                 "samples with timestamps are not spread over their profile"};
  }
  request.keep_labels = false;
  request.keep_links = false;
  request.keep_times = true;
  VESTA_TRY(read_match(call));  // says what is wrong with it in the words of this route
  VESTA_ASSIGN(const ProfileBatch batch, call.engine().samples(call.caller.tenant, request));
  VESTA_ASSIGN(const auto marks, marked_stacks(batch.dictionary, call.parameter("match")));
  return offset_heatmap(batch, shape, marks);
}

Result<HttpResponse> heatmap(const ApiCall& call) {
  VESTA_ASSIGN(const std::string kind, read_word(call, "kind", "value|offset"));
  VESTA_ASSIGN(const Question question, read_question(call));
  HeatmapShape shape;
  shape.range = question.range;
  if (kind == "offset" && call.parameter("step").empty()) {
    shape.column_ns = kSecond;
  } else {
    VESTA_ASSIGN(shape.column_ns, read_step(call, question.range));
  }
  VESTA_ASSIGN(shape.rows, read_count(call, "rows", kind == "offset" ? 50 : 20, 1000));
  VESTA_TRY(check_shape(shape));  // before the engine works for nothing
  VESTA_ASSIGN(const Heatmap map, kind == "offset" ? heatmap_of_offsets(call, question, shape)
                                                   : heatmap_of_values(call, question, shape));
  JsonWriter json;
  json.begin_object().field("type", question.type.sample_type);
  json.field("unit", question.type.sample_unit).field("profile_type", question.type.id());
  json.field("kind", kind);
  write_heatmap(json, map);
  if (!call.parameter("match").empty()) write_cells(json, "matched", map.matched);
  return json_response(json.end_object().take());
}

}  // namespace

std::span<const ApiRoute> time_routes() {
  static const std::array kRoutes = {
      get_route("/api/v1/totals",
                {kSeriesParameters, "trace_id span_id sample_labels sample_from sample_to",
                 kStackParameters, "step group_by limit"},
                totals),
      get_route("/api/v1/heatmap",
                {kSeriesParameters, kSampleParameters, "kind step rows by_span match"}, heatmap),
  };
  return kRoutes;
}

}  // namespace vesta::server
