// What there is: types, labels and their values, series, figures of the store.
#include <algorithm>
#include <array>

#include "query/type_words.h"
#include "server/native/answer.h"
#include "server/native/embedded.h"

namespace vesta::server {
namespace {

Result<HttpResponse> types(const ApiCall& call) {
  VESTA_ASSIGN(const auto question, read_series_question(call));
  VESTA_ASSIGN(const auto found,
               stored_types(call.engine(), call.caller.tenant, question.selector, question.range));
  JsonWriter json;
  json.begin_object().key("types").begin_array();
  for (const ProfileType& type : found) {
    json.begin_object().field("id", type.id()).field("name", type.name);
    json.field("type", type.sample_type).field("unit", type.sample_unit);
    json.field("period_type", type.period_type).field("period_unit", type.period_unit);
    json.field("temporality", temporality_word(type));
    json.end_object();
  }
  return json_response(json.end_array().end_object().take());
}

void write_strings(JsonWriter& json, std::string_view name, const std::vector<std::string>& list) {
  json.key(name).begin_array();
  for (const std::string& text : list) json.string(text);
  json.end_array();
}

Result<HttpResponse> labels(const ApiCall& call) {
  VESTA_ASSIGN(const auto question, read_series_question(call));
  VESTA_ASSIGN(const auto names,
               call.engine().label_names(call.caller.tenant, question.selector, question.range));
  JsonWriter json;
  json.begin_object();
  write_strings(json, "labels", names);
  return json_response(json.end_object().take());
}

constexpr size_t kMostListed = 1'000'000;

Result<HttpResponse> values(const ApiCall& call) {
  VESTA_ASSIGN(const auto question, read_series_question(call));
  VESTA_ASSIGN(size_t limit, read_count(call, "limit", 10'000, kMostListed));
  if (limit == 0) limit = kMostListed;
  const std::string_view label = call.request.path_field("label");
  // One more says whether there are more.
  VESTA_ASSIGN(auto found,
               call.engine().label_values(call.caller.tenant, label, question.selector,
                                          question.range, call.parameter("prefix"), limit + 1));
  const bool is_cut = found.size() > limit;
  if (is_cut) found.resize(limit);
  JsonWriter json;
  json.begin_object().field("label", label);
  write_strings(json, "values", found);
  return json_response(json.field("truncated", is_cut).end_object().take());
}

Result<HttpResponse> series(const ApiCall& call) {
  VESTA_ASSIGN(const auto question, read_series_question(call));
  VESTA_ASSIGN(size_t limit, read_count(call, "limit", 10'000, kMostListed));
  if (limit == 0) limit = kMostListed;
  VESTA_ASSIGN(const auto found,
               call.engine().series(call.caller.tenant, question.selector, question.range));
  const size_t shown = std::min(limit, found.size());
  JsonWriter json;
  json.begin_object().key("series").begin_array();
  for (size_t i = 0; i < shown; ++i) {
    json.begin_object();
    write_labels(json, found[i].labels);
    json.field("first_ns", found[i].first_ns).field("last_ns", found[i].last_ns).end_object();
  }
  json.end_array().key("cut").begin_object().field("series", uint64_t{found.size() - shown});
  return json_response(json.end_object().end_object().take());
}

Result<HttpResponse> stats(const ApiCall& call) {
  const EngineStats stats = call.engine().tenant_stats(call.caller.tenant);
  JsonWriter json;
  json.begin_object().field("disk_bytes", stats.disk_bytes);
  json.field("memory_bytes", stats.memory_bytes).field("series", stats.series);
  json.field("stacks", stats.stacks).field("nodes", stats.nodes);
  json.field("pending_rollups", stats.pending_rollups);
  json.field("oldest_ns", stats.oldest_ns).field("newest_ns", stats.newest_ns);
  json.key("details").begin_object();
  for (const auto& [name, value] : stats.details) json.field(name, value);
  return json_response(json.end_object().end_object().take());
}

Result<HttpResponse> openapi(const ApiCall&) {
  return json_response(std::string(kOpenApiDocument.text));
}

}  // namespace

std::span<const ApiRoute> list_routes() {
  static const std::array kRoutes = {
      get_route("/api/v1/types", {kSeriesParameters}, types),
      get_route("/api/v1/labels", {kSeriesParameters}, labels),
      get_route("/api/v1/values/{label}", {kSeriesParameters, "prefix limit"}, values),
      get_route("/api/v1/series", {kSeriesParameters, "limit"}, series),
      get_route("/api/v1/stats", {}, stats),
      ApiRoute{"GET", "/api/v1/openapi.json", Scope::kNone, {}, openapi},
  };
  return kRoutes;
}

}  // namespace vesta::server
