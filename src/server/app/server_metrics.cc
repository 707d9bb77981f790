#include "server/app/server_metrics.h"

#include <algorithm>

#include "base/process_metrics.h"

namespace vesta::server {
namespace {

double as_number(uint64_t value) {
  return static_cast<double>(value);
}

void write_engine(PrometheusText& text, Engine& engine) {
  const EngineStats stats = engine.stats();
  text.one("vesta_store_disk_bytes", "gauge", "Size of the store on disk, in bytes.",
           as_number(stats.disk_bytes));
  text.one("vesta_store_memory_bytes", "gauge", "Memory of the store, in bytes.",
           as_number(stats.memory_bytes));
  text.one("vesta_store_series", "gauge", "Series, all tenants together.", as_number(stats.series));
  text.one("vesta_store_stacks", "gauge", "Distinct stacks.", as_number(stats.stacks));
  text.one("vesta_store_nodes", "gauge", "Nodes in stack trees.", as_number(stats.nodes));
  text.one("vesta_store_pending_rollups", "gauge", "Pending roll-ups.",
           as_number(stats.pending_rollups));
  text.one("vesta_store_oldest_seconds", "gauge",
           "Start of the oldest profile, as Unix time in seconds.",
           static_cast<double>(stats.oldest_ns) / 1e9);
  text.one("vesta_store_newest_seconds", "gauge",
           "Start of the newest profile, as Unix time in seconds.",
           static_cast<double>(stats.newest_ns) / 1e9);
  for (const auto& [name, value] : stats.details) {
    text.one("vesta_store_" + name, "gauge", "A statistic of the storage engine.", value);
  }
}

void write_ingest(PrometheusText& text, const IngestCounters& counters) {
  const auto each = [&](std::string_view name, std::string_view help, auto member) {
    text.metric(name, "counter", help);
    for (size_t i = 0; i < IngestCounters::kProtocols; ++i) {
      text.sample({{"protocol", ingest_protocol_name(static_cast<IngestProtocol>(i))}},
                  as_number((counters.protocols[i].*member).load()));
    }
  };
  using Per = IngestCounters::PerProtocol;
  each("vesta_ingest_requests_total", "Requests that sent profiles.", &Per::requests);
  each("vesta_ingest_bytes_total", "Bytes of request bodies with profiles.", &Per::bytes);
  each("vesta_ingest_profiles_total", "Profiles stored.", &Per::profiles);
  each("vesta_ingest_samples_total", "Samples stored (stacks with values).", &Per::samples);
  each("vesta_ingest_duplicates_total", "Duplicate profiles that were skipped.", &Per::duplicates);
  text.metric("vesta_ingest_refused_total", "counter",
              "Requests with profiles that were refused, by reason.");
  for (size_t i = 0; i < IngestCounters::kProtocols; ++i) {
    for (size_t r = 0; r < IngestCounters::kReasons; ++r) {
      text.sample({{"protocol", ingest_protocol_name(static_cast<IngestProtocol>(i))},
                   {"reason", refusal_reason_name(static_cast<RefusalReason>(r))}},
                  as_number(counters.protocols[i].refused[r].load()));
    }
  }
  text.metric("vesta_ingest_notes_total", "counter",
              "Data dropped or changed during ingest, by kind.");
  for (size_t i = 0; i < IngestCounters::kNotes; ++i) {
    text.sample({{"what", ingest_note_name(static_cast<IngestNote>(i))}},
                as_number(counters.notes[i].load()));
  }
}

void write_http(PrometheusText& text, const HttpServerStats& stats) {
  text.one("vesta_http_connections", "gauge", "Open connections.", as_number(stats.connections));
  text.one("vesta_http_connections_accepted_total", "counter", "Accepted connections.",
           as_number(stats.accepted));
  text.one("vesta_http_connections_refused_total", "counter",
           "Connections refused because of server.max_connections.", as_number(stats.refused));
  text.one("vesta_http_timeouts_total", "counter",
           "Connections closed because the client was too slow.", as_number(stats.timeouts));
  text.one("vesta_http_malformed_total", "counter", "Requests that were malformed or cut off.",
           as_number(stats.malformed));
  text.one("vesta_tls_handshake_failures_total", "counter", "Failed TLS handshakes.",
           as_number(stats.handshake_failures));
  text.one("vesta_tls_reloads_total", "counter", "Reloaded TLS certificates.",
           as_number(stats.tls_reloads));
  text.one("vesta_tls_reload_failures_total", "counter",
           "TLS certificates that could not be loaded.", as_number(stats.tls_reload_failures));
}

void write_grpc(PrometheusText& text, const TcpAcceptor::Stats& stats) {
  text.one("vesta_grpc_connections", "gauge", "Open connections, updated every few seconds.",
           as_number(stats.connections));
  text.one("vesta_grpc_connections_accepted_total", "counter", "Accepted connections.",
           as_number(stats.accepted));
  text.one("vesta_grpc_connections_refused_total", "counter",
           "Connections refused because of server.max_connections.", as_number(stats.refused));
}

}  // namespace

std::string metrics_text(const MetricSources& sources) {
  PrometheusText text;
  text.metric("vesta_build_info", "gauge", "Version of the server.");
  text.sample({{"version", sources.version}}, 1);
  write_process_metrics(text);
  sources.requests->write(text);
  if (sources.http != nullptr) write_http(text, sources.http->stats());
  if (sources.grpc != nullptr) write_grpc(text, sources.grpc->connections());
  text.one("vesta_workers_queued", "gauge", "Requests waiting for a thread.",
           as_number(sources.pool->queued()));
  text.one("vesta_workers_running", "gauge", "Requests being processed.",
           as_number(sources.pool->running()));
  text.one("vesta_request_memory_bytes", "gauge", "Memory of requests in flight, in bytes.",
           as_number(sources.memory->used()));
  text.one("vesta_request_memory_limit_bytes", "gauge", "Limit of the memory above, in bytes.",
           as_number(sources.memory->total()));
  text.one("vesta_query_memory_bytes", "gauge", "Memory of queries in flight, in bytes.",
           as_number(sources.query_memory->used()));
  text.one("vesta_query_memory_limit_bytes", "gauge", "Limit of the memory above, in bytes.",
           as_number(sources.query_memory->total()));
  text.one("vesta_answer_memory_bytes", "gauge",
           "Memory of answers that clients have not read yet, in bytes.",
           as_number(sources.answers->used()));
  text.one("vesta_answer_memory_limit_bytes", "gauge", "Limit of the memory above, in bytes.",
           as_number(sources.answers->total()));
  if (sources.audit != nullptr) {
    text.one("vesta_audit_dropped_total", "counter", "Lines dropped from the audit log.",
             as_number(sources.audit->dropped()));
    text.one("vesta_audit_write_failures_total", "counter", "Failed writes of the audit log.",
             as_number(sources.audit->write_failures()));
  }
  write_ingest(text, *sources.ingest);
  write_engine(text, *sources.engine);
  return text.take();
}

}  // namespace vesta::server
