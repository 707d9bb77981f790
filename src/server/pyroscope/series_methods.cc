// Totals over time, and how single profiles or spans spread over time and size.
#include <querier/v1/querier.pb.h>
#include <types/v1/types.pb.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "base/hex.h"
#include "server/pyroscope/query_api.h"
#include "server/pyroscope/request_fields.h"
#include "server/pyroscope/rpc_method.h"
#include "server/pyroscope/sample_labels.h"
#include "server/pyroscope/time_series.h"

namespace vesta::server {
namespace {

constexpr size_t kHeatmapRows = 20;

using LabelPairs = google::protobuf::RepeatedPtrField<types::v1::LabelPair>;

void fill(const Labels& labels, LabelPairs& pairs) {
  for (const auto& [name, value] : labels) {
    auto* pair = pairs.Add();
    pair->set_name(name);
    pair->set_value(value);
  }
}

std::string hex_of(std::span<const uint8_t> id) {
  if (std::ranges::all_of(id, [](uint8_t byte) { return byte == 0; })) return {};
  return to_hex(id);
}

// A stored profile, or a span of one. The labels that the series is named after are not repeated.
void fill(const ProfilePoint& point, const std::vector<std::string>& group_by,
          types::v1::Exemplar& exemplar) {
  exemplar.set_timestamp(point.time_ns / kMillisecond);
  exemplar.set_profile_id(to_uuid(point.profile_id));
  exemplar.set_span_id(hex_of(point.span_id));
  exemplar.set_trace_id(hex_of(point.trace_id));
  exemplar.set_value(point.value);
  Labels rest;
  for (const auto& label : point.labels) {
    if (std::ranges::find(group_by, label.first) == group_by.end()) rest.push_back(label);
  }
  fill(rest, *exemplar.mutable_labels());
}

template <class Request>
std::vector<std::string> group_by_of(const Request& request) {
  return {request.group_by().begin(), request.group_by().end()};
}

Result<std::vector<ProfilePoint>> single_points(const QueryApi& api, const StacksQuery& query,
                                                const TimeSteps& steps, bool by_span,
                                                const Caller& caller) {
  PointsRequest request;
  request.type = query.type;
  request.selector = query.selector;
  request.samples = query.samples;
  request.range = steps.range();
  request.by_span = by_span;
  request.budget = budget_of(api.options, caller);
  return api.engine.points(caller.tenant, request);
}

// Of a selector as a client sends it.
Status read_selectors(const QueryApi& api, const std::string& text, TimeRange range,
                      const Caller& caller, StacksQuery& query) {
  VESTA_ASSIGN(Selector selector, read_selector(text));
  VESTA_ASSIGN(SplitSelector split, split_selector(api, caller, std::move(selector), range));
  query.selector = std::move(split.series);
  query.samples.either = std::move(split.either);
  return {};
}

// The largest of each series and point in time.
using Exemplars = std::map<std::pair<Labels, int64_t>, const ProfilePoint*>;

Result<querier::v1::SelectSeriesResponse> select_series(
    const QueryApi& api, const querier::v1::SelectSeriesRequest& request, const Caller& caller) {
  SeriesQuery query;
  VESTA_ASSIGN(query.stacks.type, read_type(request.profile_typeid()));
  VESTA_ASSIGN(const TimeSteps steps,
               TimeSteps::make(request.start(), request.end(), request.step()));
  VESTA_TRY(read_selectors(api, request.label_selector(), steps.range(), caller, query.stacks));
  query.group_by = group_by_of(request);
  query.average = request.aggregation() == types::v1::TIME_SERIES_AGGREGATION_TYPE_AVERAGE;
  if (!request.stack_trace_selector().has_go_pgo()) {
    for (const auto& location : request.stack_trace_selector().call_site()) {
      query.stacks.call_site.push_back(location.name());
    }
  }
  VESTA_ASSIGN(auto all, total_series(api, query, steps, caller));
  keep_largest(all, request.limit());

  const bool by_span = request.exemplar_type() == types::v1::EXEMPLAR_TYPE_SPAN;
  std::vector<ProfilePoint> points;
  Exemplars exemplars;
  if (by_span || request.exemplar_type() == types::v1::EXEMPLAR_TYPE_INDIVIDUAL) {
    VESTA_ASSIGN(points, single_points(api, query.stacks, steps, by_span, caller));
    for (const ProfilePoint& point : points) {
      const ProfilePoint*& best =
          exemplars[{project(point.labels, query.group_by), steps.point_of(point.time_ns)}];
      if (best == nullptr || point.value > best->value) best = &point;
    }
  }
  querier::v1::SelectSeriesResponse response;
  for (const LabelledSeries& series : all) {
    auto* out = response.add_series();
    fill(series.labels, *out->mutable_labels());
    for (const SeriesPoint& point : series.points) {
      auto* to = out->add_points();
      to->set_value(point.value);
      to->set_timestamp(steps.point_ms(point.k));
      const auto exemplar = exemplars.find({series.labels, point.k});
      if (exemplar != exemplars.end())
        fill(*exemplar->second, query.group_by, *to->add_exemplars());
    }
  }
  return response;
}

// Equal parts of what lies between the smallest and the largest value.
class ValueRows {
 public:
  explicit ValueRows(const std::vector<ProfilePoint>& points) {
    const auto [low, high] = std::ranges::minmax_element(points, {}, &ProfilePoint::value);
    least_ = static_cast<double>(low->value);
    const double most = static_cast<double>(high->value);
    size_ = (most > least_ ? most - least_ : 1) / static_cast<double>(kHeatmapRows);
  }
  double start_of(size_t row) const { return least_ + size_ * static_cast<double>(row); }
  size_t row_of(int64_t value) const {
    const double row = (static_cast<double>(value) - least_) / size_;
    return std::min(static_cast<size_t>(std::max(row, 0.0)), kHeatmapRows - 1);
  }

 private:
  double least_ = 0;
  double size_ = 1;
};

struct HeatmapGroup {
  Labels labels;
  std::map<int64_t, std::array<std::vector<const ProfilePoint*>, kHeatmapRows>> slots;
  double total = 0;
};

Result<querier::v1::SelectHeatmapResponse> select_heatmap(
    const QueryApi& api, const querier::v1::SelectHeatmapRequest& request, const Caller& caller) {
  StacksQuery query;
  VESTA_ASSIGN(query.type, read_type(request.profile_typeid()));
  VESTA_ASSIGN(const TimeSteps steps,
               TimeSteps::make(request.start(), request.end(), request.step()));
  VESTA_TRY(read_selectors(api, request.label_selector(), steps.range(), caller, query));
  const std::vector<std::string> group_by = group_by_of(request);
  const bool by_span = request.query_type() == querier::v1::HEATMAP_QUERY_TYPE_SPAN;
  const bool has_exemplars = request.exemplar_type() == types::v1::EXEMPLAR_TYPE_INDIVIDUAL ||
                             request.exemplar_type() == types::v1::EXEMPLAR_TYPE_SPAN;
  VESTA_ASSIGN(const auto points, single_points(api, query, steps, by_span, caller));
  querier::v1::SelectHeatmapResponse response;
  if (points.empty()) return response;

  const ValueRows rows(points);
  std::map<Labels, HeatmapGroup> by_labels;
  for (const ProfilePoint& point : points) {
    HeatmapGroup& group = by_labels[project(point.labels, group_by)];
    group.slots[steps.point_of(point.time_ns)][rows.row_of(point.value)].push_back(&point);
    group.total += static_cast<double>(point.value);
  }
  std::vector<HeatmapGroup> groups;
  for (auto& [labels, group] : by_labels) {
    group.labels = labels;
    groups.push_back(std::move(group));
  }
  keep_largest(groups, request.limit());
  for (const HeatmapGroup& group : groups) {
    auto* series = response.add_series();
    fill(group.labels, *series->mutable_labels());
    for (const auto& [k, cells] : group.slots) {
      auto* slot = series->add_slots();
      slot->set_timestamp(steps.point_ms(k));
      for (size_t row = 0; row < kHeatmapRows; ++row) {
        slot->add_y_min(rows.start_of(row));
        slot->add_counts(static_cast<int32_t>(cells[row].size()));
        if (!has_exemplars || cells[row].empty()) continue;
        const auto best = std::ranges::max_element(cells[row], {}, &ProfilePoint::value);
        fill(**best, group_by, *slot->add_exemplars());
      }
    }
  }
  return response;
}

}  // namespace

void add_series_methods(Routes& routes, const QueryApiPtr& api) {
  add_querier_method(routes, api, "SelectSeries", select_series);
  add_querier_method(routes, api, "SelectHeatmap", select_heatmap);
}

}  // namespace vesta::server
