// Everything that /metrics shows, gathered from the parts of a server. Any thread.
#pragma once

#include <string>

#include "ingest/counters.h"
#include "server/access/audit_log.h"
#include "server/grpc/grpc_server.h"
#include "server/http/http_server.h"
#include "server/memory_budget.h"
#include "server/ops/request_metrics.h"
#include "server/rpc/worker_pool.h"
#include "store/engine.h"

namespace vesta::server {

struct MetricSources {
  const RequestMetrics* requests = nullptr;
  Engine* engine = nullptr;
  const IngestCounters* ingest = nullptr;
  const HttpServer* http = nullptr;  // null when it is off
  const GrpcServer* grpc = nullptr;  // likewise
  const WorkerPool* pool = nullptr;
  const MemoryBudget* memory = nullptr;
  const MemoryBudget* query_memory = nullptr;
  const MemoryBudget* answers = nullptr;
  const AuditLog* audit = nullptr;  // null when it is off
  std::string version;
};
std::string metrics_text(const MetricSources& sources);

}  // namespace vesta::server
