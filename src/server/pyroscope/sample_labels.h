// Labels that stay with samples (thread_name, span_name), shown to clients that know one kind of
// labels: Pyroscope makes series of them. Asks the engine; keeps nothing.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/labels.h"
#include "base/result.h"
#include "server/api.h"
#include "server/pyroscope/query_api.h"

namespace vesta::server {

// A selector taken apart: what series must match, and what a series or its samples must.
struct SplitSelector {
  Selector series;
  Selector either;
};
Result<SplitSelector> split_selector(const QueryApi& api, const Caller& caller, Selector selector,
                                     TimeRange range);

// Whether samples of the matching services have one of these labels.
Result<bool> are_sample_labels(const QueryApi& api, const Caller& caller, const Selector& series,
                               TimeRange range, const std::vector<std::string>& names);

// A series that matches. `sets` are labels of samples of its service that match with it: those of
// the names that were asked for, and of `either`. `bare`: it matches without any, too.
using VisitMatch =
    std::function<Status(const Labels& series, const std::vector<const Labels*>& sets, bool bare)>;
Status for_each_match(const QueryApi& api, const Caller& caller, const SplitSelector& selector,
                      TimeRange range, const std::vector<std::string>& names,
                      const VisitMatch& visit);

// Of series and of samples, in order.
Result<std::set<std::string>> all_label_names(const QueryApi& api, const Caller& caller,
                                              const SplitSelector& selector, TimeRange range);
Result<std::set<std::string>> all_label_values(const QueryApi& api, const Caller& caller,
                                               std::string_view name, const SplitSelector& selector,
                                               TimeRange range);

}  // namespace vesta::server
