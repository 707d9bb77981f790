// What there is: types, names and values of labels, series.
#include <querier/v1/querier.pb.h>
#include <types/v1/types.pb.h>

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/time.h"
#include "query/type_words.h"
#include "server/pyroscope/query_api.h"
#include "server/pyroscope/request_fields.h"
#include "server/pyroscope/rpc_method.h"
#include "server/pyroscope/sample_labels.h"

namespace vesta::server {
namespace {

constexpr size_t kMaxSampleSeries = 100'000;

Result<querier::v1::ProfileTypesResponse> profile_types(
    const QueryApi& api, const querier::v1::ProfileTypesRequest& request, const Caller& caller) {
  const int64_t now = api.options.clock().ns;
  TimeRange range{now - kHour, now};
  if (request.start() != 0 || request.end() != 0) {
    VESTA_ASSIGN(range, range_from_millis(request.start(), request.end()));
  }
  VESTA_ASSIGN(const auto types, stored_types(api.engine, caller.tenant, {}, range));
  querier::v1::ProfileTypesResponse response;
  const QueryBudget budget = budget_of(api.options, caller);
  for (const ProfileType& type : types) {
    if (!api.valued_types->has_values(api.engine, caller.tenant, type, range, budget)) continue;
    auto* out = response.add_profile_types();
    out->set_id(type.id());
    out->set_name(type.name);
    out->set_sample_type(type.sample_type);
    out->set_sample_unit(type.sample_unit);
    out->set_period_type(type.period_type);
    out->set_period_unit(type.period_unit);
  }
  return response;
}

// Clients that cannot write other names in a query never see them.
Result<bool> hides_label_names(const Caller& caller) {
  VESTA_ASSIGN(const bool takes_any, takes_any_label_name(caller.header("accept")));
  return !takes_any;
}

Result<types::v1::LabelNamesResponse> label_names(const QueryApi& api,
                                                  const types::v1::LabelNamesRequest& request,
                                                  const Caller& caller) {
  VESTA_ASSIGN(const TimeRange range, range_from_millis(request.start(), request.end()));
  VESTA_ASSIGN(const Selector selector, read_matchers(request.matchers()));
  VESTA_ASSIGN(const bool hides, hides_label_names(caller));
  VESTA_ASSIGN(const SplitSelector split, split_selector(api, caller, selector, range));
  VESTA_ASSIGN(const auto names, all_label_names(api, caller, split, range));
  types::v1::LabelNamesResponse response;
  for (const std::string& name : names) {
    if (!hides || is_plain_label_name(name)) response.add_names(name);
  }
  return response;
}

Result<types::v1::LabelValuesResponse> label_values(const QueryApi& api,
                                                    const types::v1::LabelValuesRequest& request,
                                                    const Caller& caller) {
  if (request.name().empty()) {
    return Error{ErrorCode::kUsage, "name is required", "send the name of a label"};
  }
  VESTA_ASSIGN(const TimeRange range, range_from_millis(request.start(), request.end()));
  VESTA_ASSIGN(const Selector selector, read_matchers(request.matchers()));
  VESTA_ASSIGN(const SplitSelector split, split_selector(api, caller, selector, range));
  VESTA_ASSIGN(const auto values, all_label_values(api, caller, request.name(), split, range));
  types::v1::LabelValuesResponse response;
  for (const std::string& value : values) response.add_names(value);
  return response;
}

Labels labels_named(Labels labels, const std::set<std::string>& names) {
  std::erase_if(labels,
                [&](const auto& label) { return !names.empty() && !names.contains(label.first); });
  return labels;
}

// Each series with each set of labels that samples of its service have had.
Result<std::set<Labels>> series_with_samples(const QueryApi& api, const Caller& caller,
                                             const SplitSelector& selector, TimeRange range,
                                             const std::set<std::string>& names) {
  std::set<Labels> found;
  const auto add = [&](const Labels& series, const std::vector<const Labels*>& sets,
                       bool bare) -> Status {
    const Labels of_series = labels_named(series, names);
    if (bare && !of_series.empty()) found.insert(of_series);
    for (const Labels* set : sets) {
      Labels both = of_series;
      for (const auto& label : labels_named(*set, names)) {
        if (label_value(series, label.first).empty()) both.push_back(label);
      }
      std::ranges::sort(both);
      if (!both.empty()) found.insert(std::move(both));
      if (found.size() > kMaxSampleSeries) {
        return Error{ErrorCode::kLimit,
                     fmt::format("more than {} sets of these labels", kMaxSampleSeries),
                     "narrow the matchers, or request fewer labels"};
      }
    }
    return {};
  };
  VESTA_TRY(for_each_match(api, caller, selector, range, {names.begin(), names.end()}, add));
  return found;
}

// Label sets with these names alone; all of their names for none.
Result<std::set<Labels>> projected_series(const QueryApi& api, const Caller& caller,
                                          const Selector& whole, TimeRange range,
                                          const std::set<std::string>& names) {
  VESTA_ASSIGN(const SplitSelector split, split_selector(api, caller, whole, range));
  VESTA_ASSIGN(const bool with_samples,
               are_sample_labels(api, caller, split.series, range, {names.begin(), names.end()}));
  if (with_samples || !split.either.empty())
    return series_with_samples(api, caller, split, range, names);
  const Selector& selector = split.series;
  std::set<Labels> sets;
  const auto values = [&](std::string_view name, const Selector& of) {
    return api.engine.label_values(caller.tenant, name, of, range, "", 0);
  };
  if (names.size() == 1) {
    VESTA_ASSIGN(auto found, values(*names.begin(), selector));
    for (std::string& value : found) sets.insert({{*names.begin(), std::move(value)}});
    return sets;
  }
  // What every client asks first. Types are few, so this costs far less than a look at all series.
  if (names == std::set<std::string>{std::string(kTypeLabel), std::string(kServiceLabel)}) {
    VESTA_ASSIGN(const auto types, values(kTypeLabel, selector));
    for (const std::string& type : types) {
      Selector of_type = selector;
      VESTA_ASSIGN(LabelMatcher matcher,
                   LabelMatcher::make(std::string(kTypeLabel), MatchOperator::kEqual, type));
      of_type.push_back(std::move(matcher));
      VESTA_ASSIGN(auto services, values(kServiceLabel, of_type));
      for (std::string& service : services) {
        sets.insert(
            {{std::string(kTypeLabel), type}, {std::string(kServiceLabel), std::move(service)}});
      }
    }
    return sets;
  }
  VESTA_ASSIGN(auto found, api.engine.series(caller.tenant, selector, range));
  for (SeriesInfo& info : found) {
    Labels labels = labels_named(std::move(info.labels), names);
    if (!labels.empty()) sets.insert(std::move(labels));
  }
  return sets;
}

Result<querier::v1::SeriesResponse> series(const QueryApi& api,
                                           const querier::v1::SeriesRequest& request,
                                           const Caller& caller) {
  VESTA_ASSIGN(const TimeRange range, range_from_millis(request.start(), request.end()));
  VESTA_ASSIGN(const Selector selector, read_matchers(request.matchers()));
  VESTA_ASSIGN(const bool hides, hides_label_names(caller));
  const std::set<std::string> names(request.label_names().begin(), request.label_names().end());
  VESTA_ASSIGN(const auto found, projected_series(api, caller, selector, range, names));
  std::set<Labels> shown;
  for (const Labels& labels : found) {
    Labels plain;
    for (const auto& label : labels) {
      if (!hides || is_plain_label_name(label.first)) plain.push_back(label);
    }
    if (!plain.empty()) shown.insert(std::move(plain));
  }
  querier::v1::SeriesResponse response;
  for (const Labels& labels : shown) {
    auto* out = response.add_labels_set();
    for (const auto& [name, value] : labels) {
      auto* pair = out->add_labels();
      pair->set_name(name);
      pair->set_value(value);
    }
  }
  return response;
}

Result<types::v1::GetProfileStatsResponse> profile_stats(const QueryApi& api,
                                                         const types::v1::GetProfileStatsRequest&,
                                                         const Caller& caller) {
  const EngineStats stats = api.engine.tenant_stats(caller.tenant);
  types::v1::GetProfileStatsResponse response;
  response.set_data_ingested(stats.series > 0);
  response.set_oldest_profile_time(stats.oldest_ns / kMillisecond);
  response.set_newest_profile_time(stats.newest_ns / kMillisecond);
  return response;
}

// Pyroscope's own answer has been empty since its second storage; clients show nothing then.
Result<querier::v1::AnalyzeQueryResponse> analyze_query(const QueryApi&,
                                                        const querier::v1::AnalyzeQueryRequest&,
                                                        const Caller&) {
  return querier::v1::AnalyzeQueryResponse();
}

}  // namespace

void add_index_methods(Routes& routes, const QueryApiPtr& api) {
  add_querier_method(routes, api, "ProfileTypes", profile_types);
  add_querier_method(routes, api, "LabelNames", label_names);
  add_querier_method(routes, api, "LabelValues", label_values);
  add_querier_method(routes, api, "Series", series);
  add_querier_method(routes, api, "GetProfileStats", profile_stats);
  add_querier_method(routes, api, "AnalyzeQuery", analyze_query);
}

}  // namespace vesta::server
