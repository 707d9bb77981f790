// What the pages of the UI start from: every service at a glance, and what the server is set up to.
#include <algorithm>
#include <array>

#include "ingest/baseline_log.h"
#include "query/service_overview.h"
#include "server/native/answer.h"
#include "server/native/native_api.h"

namespace vesta::server {
namespace {

constexpr double kSecond = 1e9;

void write_row(JsonWriter& json, const TypeOverview& type, const ServiceRow& row, TimeRange range) {
  const double whole = static_cast<double>(range.end_ns) - static_cast<double>(range.start_ns);
  // By the time that has data; profiles that do not say how long they took stand for all of it. A
  // gauge is an average already.
  const auto rate = [&](int64_t total, int64_t covered_ns) {
    if (type.type.temporality() == Temporality::kInstant) return static_cast<double>(total);
    const double covered = covered_ns > 0 ? static_cast<double>(covered_ns) : whole;
    return static_cast<double>(total) / covered * kSecond;
  };
  json.begin_object().field("service_name", row.service);
  json.field("profile_type", type.type.id()).field("type", type.type.sample_type);
  json.field("name", type.word).field("unit", type.type.sample_unit);
  json.field("temporality", temporality_word(type.type)).field("total", row.total);
  write_optional(json, "previous_total", row.previous_total);
  json.field("rate", rate(row.total, row.covered_ns));
  std::optional<double> previous_rate;
  if (row.previous_total) previous_rate = rate(*row.previous_total, row.previous_covered_ns);
  write_optional(json, "previous_rate", previous_rate);
  json.field("covered_ns", row.covered_ns).field("previous_covered_ns", row.previous_covered_ns);
  write_optional(json, "samples", row.samples);
  json.key("values").begin_array();
  for (const int64_t value : row.values) json.number(value);
  json.end_array().field("last_ns", row.last_ns).field("hosts", row.hosts);
  json.field("profiles", row.profiles).end_object();
}

void write_baselines(JsonWriter& json, const ApiCall& call) {
  constexpr size_t kMostBaselines = 100;
  json.key("baselines").begin_array();
  if (const BaselineLog* log = call.context.options.baselines; log != nullptr) {
    for (const Baselines& each : log->list(call.caller.tenant, kMostBaselines)) {
      json.begin_object().field("service_name", each.service).field("profile", each.family);
      json.field("count", each.count).field("last_ns", each.last_ns).end_object();
    }
  }
  json.end_array();
}

Result<HttpResponse> services(const ApiCall& call) {
  constexpr uint64_t kShortestStep = 30'000'000'000;
  constexpr size_t kMostPoints = 300;
  constexpr size_t kMostRows = 100'000;
  ServiceOverviewRequest request;
  VESTA_ASSIGN(request.points, read_count(call, "points", 60, kMostPoints));
  VESTA_ASSIGN(request.most_rows, read_count(call, "limit", 1000, kMostRows));
  if (request.points == 0) {
    return Error{ErrorCode::kUsage, "points must be 1 or more", "use 1 for one value per row"};
  }
  if (request.most_rows == 0) request.most_rows = kMostRows;
  VESTA_ASSIGN(auto question, read_series_question(call));
  request.selector = std::move(question.selector);
  request.range = question.range;
  // As in /api/v1/totals: a shorter step would hold a profile now and then.
  const auto length =
      static_cast<uint64_t>(request.range.end_ns) - static_cast<uint64_t>(request.range.start_ns);
  request.points = std::clamp<uint64_t>(length / kShortestStep, 1, request.points);
  request.budget = call.context.budget();
  VESTA_ASSIGN(const ServiceOverview found,
               service_overview(call.engine(), call.caller.tenant, request));
  JsonWriter json;
  json.begin_object().field("from_ns", request.range.start_ns).field("to_ns", request.range.end_ns);
  json.field("step_ns", found.step_ns).field("previous_from_ns", found.previous.start_ns);
  json.key("rows").begin_array();
  for (const TypeOverview& type : found.types)
    for (const ServiceRow& row : type.rows) write_row(json, type, row, request.range);
  json.end_array();
  write_baselines(json, call);
  json.key("cut").begin_object().field("rows", found.cut_rows);
  return json_response(json.end_object().end_object().take());
}

Result<HttpResponse> ui_config(const ApiCall& call) {
  const NativeApiOptions& options = call.context.options;
  // Asked with a limit, so that it is cheap where there is much.
  VESTA_ASSIGN(const auto some,
               call.engine().label_values(call.caller.tenant, kServiceLabel, {}, kAllTime, "", 1));
  JsonWriter json;
  json.begin_object().field("version", options.version).field("tenant", call.caller.tenant);
  json.key("scopes");
  if (call.caller.scopes.empty()) {
    json.null();
  } else {
    json.begin_array();
    for (const std::string_view scope : call.caller.scopes) json.string(scope);
    json.end_array();
  }
  json.field("trace_link", options.ui.trace_link).field("span_link", options.ui.span_link);
  json.field("editor_link", options.ui.editor_link);
  json.field("cost_per_core_hour", options.ui.cost_per_core_hour);
  json.field("co2_per_core_hour", options.ui.co2_per_core_hour);
  json.key("limits").begin_object().field("nodes_default", uint64_t{options.default_nodes});
  json.field("nodes_max", uint64_t{options.max_nodes}).field("file_bytes", options.file_bytes);
  json.end_object().field("time_ns", call.context.now_ns()).field("empty", some.empty());
  return json_response(json.end_object().take());
}

}  // namespace

std::span<const ApiRoute> overview_routes() {
  static const std::array kRoutes = {
      get_route("/api/v1/services", {kSeriesParameters, "points limit"}, services),
      get_route("/api/v1/config", {}, ui_config),
  };
  return kRoutes;
}

}  // namespace vesta::server
