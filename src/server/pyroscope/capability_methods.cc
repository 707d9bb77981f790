// What clients ask to find out what a server can do, and lists of what Vesta does not have: an
// empty list lets a page of Grafana open, `unimplemented` is shown to people as an error.
#include <capabilities/v1/feature_flags.pb.h>
#include <fmt/format.h>
#include <settings/v1/rules.pb.h>
#include <version/v1/version.pb.h>

#include "server/pyroscope/query_api.h"
#include "server/pyroscope/rpc_method.h"

namespace vesta::server {
namespace {

// Of the query API: the only one there has been.
constexpr uint64_t kQuerierApi = 1;

struct Flag {
  std::string_view name;
  bool enabled;
  std::string_view description;
};
// Under the names that Pyroscope gave them, in order.
constexpr Flag kFlags[] = {
    {"pyroscopeRuler", false, "Metrics from profiles through recording rules."},
    {"pyroscopeRulerFunctions", false, "Recording rules for single functions."},
    {"utf8LabelNames", true, "Label names of any characters, for clients that ask for them."},
    {"v2StorageLayer", true, "Exemplars, heat maps, and selection of single profiles and spans."},
};

Result<capabilities::v1::GetFeatureFlagsResponse> feature_flags(
    const capabilities::v1::GetFeatureFlagsRequest&, const Caller&) {
  capabilities::v1::GetFeatureFlagsResponse response;
  for (const Flag& flag : kFlags) {
    auto* out = response.add_feature_flags();
    out->set_name(std::string(flag.name));
    out->set_enabled(flag.enabled);
    out->set_description(std::string(flag.description));
  }
  return response;
}

Result<version::v1::VersionResponse> version(const version::v1::VersionRequest&, const Caller&) {
  version::v1::VersionResponse response;
  response.set_querierapi(kQuerierApi);
  return response;
}

// No rule is ever stored, so that none is found.
void add_rules(Routes& routes, std::string_view service, std::string_view noun) {
  using settings::v1::ListRulesRequest;
  using settings::v1::ListRulesResponse;
  using settings::v1::RuleRequest;
  using settings::v1::RuleResponse;
  const auto path = [&](std::string_view verb, std::string_view plural = "") {
    return fmt::format("/settings.v1.{}/{}{}{}", service, verb, noun, plural);
  };
  routes.add(rpc_method<ListRulesRequest, ListRulesResponse>(
      path("List", "s"), Scope::kRead,
      [](const ListRulesRequest&, const Caller&) -> Result<ListRulesResponse> {
        return ListRulesResponse();
      }));
  for (const auto& [verb, scope] :
       {std::pair{"Get", Scope::kRead}, std::pair{"Delete", Scope::kWrite}}) {
    routes.add(rpc_method<RuleRequest, RuleResponse>(
        path(verb), scope, [](const RuleRequest& request, const Caller&) -> Result<RuleResponse> {
          return Error{ErrorCode::kNotFound, fmt::format("no rule '{}'", request.id()),
                       "this server does not support rules"};
        }));
  }
}

}  // namespace

void add_capability_methods(Routes& routes, const QueryApiPtr&) {
  routes.add(rpc_method<capabilities::v1::GetFeatureFlagsRequest,
                        capabilities::v1::GetFeatureFlagsResponse>(
      "/capabilities.v1.FeatureFlagsService/GetFeatureFlags", Scope::kRead, feature_flags));
  routes.add(rpc_method<version::v1::VersionRequest, version::v1::VersionResponse>(
      "/version.v1.Version/Version", Scope::kRead, version));
  add_rules(routes, "RecordingRulesService", "RecordingRule");
  add_rules(routes, "CollectionRulesService", "CollectionRule");
}

}  // namespace vesta::server
