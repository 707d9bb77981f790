// Who sends profiles, and how well: GET /api/v1/agents.
#include <array>

#include "profile/merged_profile.h"
#include "query/agent_overview.h"
#include "server/native/answer.h"
#include "server/native/local_agent.h"

namespace vesta::server {
namespace {

constexpr size_t kMostAgents = 200;
// Whose profiles an agent in this process writes.
constexpr std::string_view kLocalTenant = "anonymous";

void write_counts(JsonWriter& json, std::string_view key,
                  const std::vector<std::pair<std::string, uint64_t>>& counts) {
  json.key(key).begin_array();
  for (const auto& [reason, count] : counts) {
    if (count != 0) json.begin_object().field("reason", reason).field("count", count).end_object();
  }
  json.end_array();
}

void write_agent(JsonWriter& json, const AgentRow& row) {
  json.begin_object().field("host", row.host).field("agent", row.agent);
  json.field("services", row.services).key("types").begin_array();
  for (const std::string& type : row.types) json.string(type);
  json.end_array().field("profiles", row.profiles).field("last_ns", row.last_ns);
  json.field("rate_hz", row.coverage ? row.coverage->rate_hz : 0.0);
  for (const auto& [key, share] : {std::pair("complete", &AgentCoverage::complete),
                                   std::pair("named", &AgentCoverage::named)}) {
    json.key(key);
    if (row.coverage) {
      json.number((*row.coverage).*share);
    } else {
      json.null();
    }
  }
  json.field("total", row.coverage ? row.coverage->total : 0).key("losses").begin_array();
  if (row.coverage) {
    for (const LossCount& loss : row.coverage->losses)
      json.begin_object().field("reason", loss.reason).field("count", loss.count).end_object();
  }
  json.end_array().end_object();
}

void write_local(JsonWriter& json, const LocalAgent& local) {
  json.begin_object().field("version", local.version).field("uptime_s", local.uptime_s);
  json.field("rate_hz", uint64_t{local.rate_hz});
  json.field("rate_configured_hz", uint64_t{local.rate_configured_hz});
  json.field("processes", local.processes).field("samples", local.samples);
  write_counts(json, "losses", local.losses);
  write_counts(json, "troubles", local.troubles);
  json.key("exporters").begin_array();
  for (const LocalAgent::Exporter& exporter : local.exporters) {
    json.begin_object().field("name", exporter.name).field("sent", exporter.sent);
    json.field("failed", exporter.failed).field("queued", exporter.queued);
    json.field("last_error", exporter.last_error).end_object();
  }
  json.end_array().field("memory_bytes", local.memory_bytes).field("cpu_share", local.cpu_share);
  json.field("cpu_budget", local.cpu_budget).key("problems").begin_array();
  for (const std::string& problem : local.problems) json.string(problem);
  json.end_array().end_object();
}

Result<HttpResponse> agents(const ApiCall& call) {
  VESTA_ASSIGN(const auto question, read_series_question(call));
  VESTA_ASSIGN(const AgentOverview found,
               agent_overview(call.engine(), call.caller.tenant, question.range, kMostAgents,
                              call.context.budget()));
  JsonWriter json;
  json.begin_object().field("from_ns", question.range.start_ns);
  json.field("to_ns", question.range.end_ns).key("agents").begin_array();
  for (const AgentRow& row : found.agents) write_agent(json, row);
  json.end_array().key("local");
  const auto& local_agent = call.context.options.local_agent;
  const bool is_ours = local_agent && call.caller.tenant == kLocalTenant;
  if (const auto local = is_ours ? local_agent() : std::nullopt) {
    write_local(json, *local);
  } else {
    json.null();
  }
  json.key("cut").begin_object().field("agents", found.cut_agents);
  return json_response(json.end_object().end_object().take());
}

}  // namespace

std::span<const ApiRoute> agent_routes() {
  static const std::array kRoutes = {
      ApiRoute{"GET", "/api/v1/agents", Scope::kRead, {"from to"}, agents},
  };
  return kRoutes;
}

}  // namespace vesta::server
