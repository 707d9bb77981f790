#include "server/pyroscope/sample_labels.h"

#include <algorithm>
#include <map>

#include "server/pyroscope/request_fields.h"
#include "store/sample_labels.h"

namespace vesta::server {
namespace {

// Labels that every series has, so that no sample is ever asked for them.
bool is_of_series(std::string_view name) {
  return name == kServiceLabel || name.starts_with("__");
}

Result<std::vector<SampleLabelSets>> sets_of_services(const QueryApi& api, const Caller& caller,
                                                      const Selector& series, TimeRange range,
                                                      std::vector<std::string> names) {
  SampleLabelsRequest request;
  request.selector = series;
  request.range = range;
  request.names = std::move(names);
  request.budget = budget_of(api.options, caller);
  return api.engine.sample_label_sets(caller.tenant, request);
}

}  // namespace

Result<SplitSelector> split_selector(const QueryApi& api, const Caller& caller, Selector selector,
                                     TimeRange range) {
  SplitSelector split;
  Selector others;
  for (LabelMatcher& matcher : selector) {
    (is_of_series(matcher.name()) ? split.series : others).push_back(std::move(matcher));
  }
  if (others.empty()) return split;
  VESTA_ASSIGN(const auto names, api.engine.sample_label_names(caller.tenant, split.series, range));
  for (LabelMatcher& matcher : others) {
    const bool is_either = std::ranges::find(names, matcher.name()) != names.end();
    (is_either ? split.either : split.series).push_back(std::move(matcher));
  }
  return split;
}

Result<bool> are_sample_labels(const QueryApi& api, const Caller& caller, const Selector& series,
                               TimeRange range, const std::vector<std::string>& names) {
  if (std::ranges::all_of(names, is_of_series)) return false;
  VESTA_ASSIGN(const auto known, api.engine.sample_label_names(caller.tenant, series, range));
  return std::ranges::any_of(names, [&](const std::string& name) {
    return !is_of_series(name) && std::ranges::find(known, name) != known.end();
  });
}

Status for_each_match(const QueryApi& api, const Caller& caller, const SplitSelector& selector,
                      TimeRange range, const std::vector<std::string>& names,
                      const VisitMatch& visit) {
  std::vector<std::string> wanted = names;
  for (const LabelMatcher& matcher : selector.either) wanted.push_back(matcher.name());
  VESTA_ASSIGN(const auto services, sets_of_services(api, caller, selector.series, range, wanted));
  std::map<std::string_view, const std::vector<Labels>*> by_service;
  for (const SampleLabelSets& service : services) by_service[service.service] = &service.sets;
  VESTA_ASSIGN(const auto found, api.engine.series(caller.tenant, selector.series, range));

  struct Matched {
    std::vector<const Labels*> sets;
    bool bare = true;
  };
  // Series of a service that leave the same to their samples share the answer.
  std::map<std::pair<std::string_view, std::vector<bool>>, Matched> known;
  for (const SeriesInfo& info : found) {
    const auto asked = left_to_samples(selector.either, info.labels);
    if (!asked) continue;
    const std::string_view service = label_value(info.labels, kServiceLabel);
    const auto [at, is_new] = known.try_emplace({service, *asked});
    Matched& matched = at->second;
    if (is_new) {
      Selector left;
      for (size_t i = 0; i < asked->size(); ++i)
        if ((*asked)[i]) left.push_back(selector.either[i]);
      matched.bare = matches(left, Labels());
      if (const auto sets = by_service.find(service); sets != by_service.end()) {
        for (const Labels& set : *sets->second)
          if (matches(left, set)) matched.sets.push_back(&set);
      }
    }
    if (matched.bare || !matched.sets.empty())
      VESTA_TRY(visit(info.labels, matched.sets, matched.bare));
  }
  return {};
}

Result<std::set<std::string>> all_label_names(const QueryApi& api, const Caller& caller,
                                              const SplitSelector& selector, TimeRange range) {
  VESTA_ASSIGN(const auto of_samples,
               api.engine.sample_label_names(caller.tenant, selector.series, range));
  std::set<std::string> names;
  if (selector.either.empty()) {
    VESTA_ASSIGN(const auto of_series,
                 api.engine.label_names(caller.tenant, selector.series, range));
    names.insert(of_series.begin(), of_series.end());
    names.insert(of_samples.begin(), of_samples.end());
    return names;
  }
  const auto add = [&](const Labels& labels) {
    for (const auto& [name, value] : labels) names.insert(name);
  };
  VESTA_TRY(for_each_match(
      api, caller, selector, range, of_samples,
      [&](const Labels& series, const std::vector<const Labels*>& sets, bool) -> Status {
        add(series);
        for (const Labels* set : sets) add(*set);
        return {};
      }));
  return names;
}

Result<std::set<std::string>> all_label_values(const QueryApi& api, const Caller& caller,
                                               std::string_view name, const SplitSelector& selector,
                                               TimeRange range) {
  std::set<std::string> values;
  if (selector.either.empty()) {
    VESTA_ASSIGN(const auto of_series,
                 api.engine.label_values(caller.tenant, name, selector.series, range, "", 0));
    values.insert(of_series.begin(), of_series.end());
    if (is_of_series(name)) return values;
    VESTA_ASSIGN(const auto services,
                 sets_of_services(api, caller, selector.series, range, {std::string(name)}));
    for (const SampleLabelSets& service : services)
      for (const Labels& set : service.sets) values.insert(set.front().second);
    return values;
  }
  VESTA_TRY(for_each_match(
      api, caller, selector, range, {std::string(name)},
      [&](const Labels& series, const std::vector<const Labels*>& sets, bool) -> Status {
        const std::string_view value = label_value(series, name);
        if (!value.empty()) {
          values.emplace(value);
          return {};
        }
        for (const Labels* set : sets) values.emplace(label_value(*set, name));
        return {};
      }));
  values.erase("");
  return values;
}

}  // namespace vesta::server
