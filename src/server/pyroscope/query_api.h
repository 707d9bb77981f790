// The parts that Pyroscope's query API is put together from, and what they share. Internal to this
// folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/api.h"
#include "server/pyroscope/query_options.h"
#include "server/pyroscope/valued_types.h"
#include "store/engine.h"

namespace vesta::server {

struct QueryApi {
  Engine& engine;
  PyroscopeQueryOptions options;
  std::shared_ptr<ValuedTypes> valued_types;
};
using QueryApiPtr = std::shared_ptr<const QueryApi>;

void add_index_methods(Routes& routes, const QueryApiPtr& api);
void add_stack_methods(Routes& routes, const QueryApiPtr& api);
void add_series_methods(Routes& routes, const QueryApiPtr& api);
void add_render_routes(Routes& routes, const QueryApiPtr& api);
// The services that Grafana asks besides the querier.
void add_settings_methods(Routes& routes, const QueryApiPtr& api);
void add_capability_methods(Routes& routes, const QueryApiPtr& api);
void add_adhoc_methods(Routes& routes, const QueryApiPtr& api);
void add_debug_info_routes(Routes& routes, const QueryApiPtr& api);

// Whose stacks are to be merged.
struct StacksQuery {
  ProfileType type;
  Selector selector;
  TimeRange range;
  SampleFilter samples;
  std::vector<std::string> profile_ids;
  std::vector<std::string> call_site;
};
Result<Selection> merge_stacks(const QueryApi& api, const StacksQuery& query, const Caller& caller);

}  // namespace vesta::server
