#include "server/pyroscope/time_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "server/pyroscope/request_fields.h"
#include "server/pyroscope/sample_labels.h"
#include "server/pyroscope/stack_selection.h"

namespace vesta::server {
namespace {

constexpr int64_t kMaxPoints = 1'000'000;
// Each point costs a merge of stacks then.
constexpr int64_t kMaxPointsOfStacks = 500;
constexpr double kMaxStepSeconds = 1e9;

double value_of(const TotalsPoint& point, bool average) {
  if (!average) return static_cast<double>(point.value);
  if (point.profiles == 0) return 0;
  return static_cast<double>(point.sum) / static_cast<double>(point.profiles);
}

void add_point(LabelledSeries& series, SeriesPoint point) {
  series.points.push_back(point);
  series.total += point.value;
}

// Stacks under a call site have no totals of their own: each point is a merge.
Result<std::vector<LabelledSeries>> call_site_series(const QueryApi& api, const SeriesQuery& query,
                                                     const TimeSteps& steps, const Caller& caller) {
  if (steps.count() > kMaxPointsOfStacks) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{} points exceed the limit of a call site", steps.count()),
                 fmt::format("use up to {}, with a larger step", kMaxPointsOfStacks)};
  }
  std::map<Labels, LabelledSeries> groups;
  SelectRequest request;
  request.type = query.stacks.type;
  request.selector = query.stacks.selector;
  request.samples = query.stacks.samples;
  request.group_by = query.group_by;
  request.budget = budget_of(api.options, caller);
  for (int64_t k = 0; k < steps.count(); ++k) {
    request.range = steps.range_of(k);
    VESTA_ASSIGN(auto selections, api.engine.select(caller.tenant, request));
    for (Selection& selection : selections) {
      if (selection.profiles == 0) continue;
      keep_call_site(selection, query.stacks.call_site);
      const double value = static_cast<double>(selection.total);
      // The engine has averaged gauges over time already.
      const bool divide =
          query.average && query.stacks.type.temporality() == Temporality::kCumulative;
      LabelledSeries& series = groups[project(selection.group, query.group_by)];
      add_point(series, {k, divide ? value / static_cast<double>(selection.profiles) : value});
    }
  }
  std::vector<LabelledSeries> out;
  for (auto& [labels, series] : groups) {
    series.labels = labels;
    out.push_back(std::move(series));
  }
  return out;
}

}  // namespace

Result<TimeSteps> TimeSteps::make(int64_t start_ms, int64_t end_ms, double step_seconds) {
  VESTA_TRY(range_from_millis(start_ms, end_ms));
  if (!(step_seconds >= 0.001 && step_seconds <= kMaxStepSeconds)) {
    return Error{ErrorCode::kUsage, fmt::format("step is {} seconds", step_seconds),
                 "use a millisecond (0.001) or more"};
  }
  constexpr int64_t kLimit = INT64_MAX / kMillisecond;
  if (start_ms < -kLimit || end_ms > kLimit) {
    return Error{ErrorCode::kUsage, "start or end is out of range", "send milliseconds since 1970"};
  }
  TimeSteps steps;
  steps.start_ms_ = start_ms;
  steps.step_ms_ = std::llround(step_seconds * 1000);
  steps.count_ = (end_ms - start_ms) / steps.step_ms_ + 1;
  if (steps.count_ > kMaxPoints) {
    return Error{ErrorCode::kUsage, fmt::format("{} points exceed the limit", steps.count_),
                 "use a larger step or a shorter range"};
  }
  return steps;
}

int64_t TimeSteps::step_ns() const {
  return step_ms_ * kMillisecond;
}

TimeRange TimeSteps::range() const {
  return {range_of(0).start_ns, range_of(count_ - 1).end_ns};
}

TimeRange TimeSteps::range_of(int64_t k) const {
  return {nanos_from_millis(point_ms(k) - step_ms_ + 1), nanos_from_millis(point_ms(k) + 1)};
}

int64_t TimeSteps::point_of(int64_t time_ns) const {
  const int64_t first = range().start_ns;
  const auto since = static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(first);
  const auto k = static_cast<int64_t>(since / static_cast<uint64_t>(step_ns()));
  return std::min(k, count_ - 1);
}

Result<std::vector<LabelledSeries>> total_series(const QueryApi& api, const SeriesQuery& query,
                                                 const TimeSteps& steps, const Caller& caller) {
  TotalsRequest request;
  VESTA_ASSIGN(request.group_samples, are_sample_labels(api, caller, query.stacks.selector,
                                                        steps.range(), query.group_by));
  if (!query.stacks.call_site.empty()) {
    if (!request.group_samples) return call_site_series(api, query, steps, caller);
    request.stacks = [&call_site = query.stacks.call_site](const StackTree& tree) {
      return stacks_below(tree, call_site);
    };
  }
  request.type = query.stacks.type;
  request.selector = query.stacks.selector;
  request.samples = query.stacks.samples;
  request.range = steps.range();
  request.step_ns = steps.step_ns();
  request.group_by = query.group_by;
  request.by_start = query.average;  // an average is of whole profiles
  request.budget = budget_of(api.options, caller);
  VESTA_ASSIGN(const auto totals, api.engine.totals(caller.tenant, request));
  std::vector<LabelledSeries> out;
  for (const TotalsSeries& group : totals) {
    if (group.points.empty()) continue;
    LabelledSeries& series = out.emplace_back();
    series.labels = project(group.group, query.group_by);
    for (const TotalsPoint& point : group.points) {
      add_point(series, {steps.point_of(point.time_ns), value_of(point, query.average)});
    }
  }
  std::ranges::stable_sort(out, {}, &LabelledSeries::labels);
  return out;
}

Labels project(const Labels& labels, const std::vector<std::string>& names) {
  Labels out;
  for (const auto& label : labels) {
    if (!label.second.empty() && std::ranges::find(names, label.first) != names.end()) {
      out.push_back(label);
    }
  }
  return out;
}

}  // namespace vesta::server
