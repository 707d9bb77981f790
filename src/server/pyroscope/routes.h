// Pyroscope's query API, for Grafana's data source, Profiles Drilldown and whatever else asks a
// Pyroscope server: querier.v1.QuerierService and the older /pyroscope/render family. Answers are
// exact before anything is cut. Handlers are thread-safe.
#pragma once

#include "server/api.h"
#include "server/pyroscope/query_options.h"
#include "store/engine.h"

namespace vesta::server {

// REQUIRES: the engine outlives the routes
void add_pyroscope_query_routes(Routes& routes, Engine& engine,
                                const PyroscopeQueryOptions& options);

}  // namespace vesta::server
