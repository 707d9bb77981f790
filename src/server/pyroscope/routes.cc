#include "server/pyroscope/routes.h"

#include <google/protobuf/empty.pb.h>

#include <memory>

#include "server/pyroscope/query_api.h"
#include "server/pyroscope/rpc_method.h"

namespace vesta::server {
namespace {

// What Profiles Drilldown asks for as well and does without.
constexpr std::string_view kUnimplemented[] = {
    "/adhocprofiles.v1.AdHocProfileService/Diff",
    "/adhocprofiles.v1.AdHocProfileService/Get",
    "/adhocprofiles.v1.AdHocProfileService/List",
    "/adhocprofiles.v1.AdHocProfileService/Upload",
    "/capabilities.v1.FeatureFlagsService/GetFeatureFlags",
    "/settings.v1.RecordingRulesService/DeleteRecordingRule",
    "/settings.v1.RecordingRulesService/GetRecordingRule",
    "/settings.v1.RecordingRulesService/ListRecordingRules",
    "/settings.v1.RecordingRulesService/UpsertRecordingRule",
    "/settings.v1.SettingsService/Delete",
    "/settings.v1.SettingsService/Get",
    "/settings.v1.SettingsService/Set",
    "/vcs.v1.VCSService/GetCommit",
    "/vcs.v1.VCSService/GetCommits",
    "/vcs.v1.VCSService/GetFile",
    "/vcs.v1.VCSService/GithubApp",
    "/vcs.v1.VCSService/GithubLogin",
    "/vcs.v1.VCSService/GithubRefresh",
    "/version.v1.Version/Version",
};

RpcMethod unimplemented(std::string_view path) {
  using google::protobuf::Empty;
  return rpc_method<Empty, Empty>(
      std::string(path), Scope::kRead, [path](const Empty&, const Caller&) -> Result<std::string> {
        return Error{ErrorCode::kUnsupported, std::string(path) + " is not implemented", ""};
      });
}

}  // namespace

void add_pyroscope_query_routes(Routes& routes, Engine& engine,
                                const PyroscopeQueryOptions& options) {
  const auto api = std::make_shared<const QueryApi>(QueryApi{engine, options});
  add_index_methods(routes, api);
  add_stack_methods(routes, api);
  add_series_methods(routes, api);
  add_render_routes(routes, api);
  for (const std::string_view path : kUnimplemented) routes.add(unimplemented(path));
}

}  // namespace vesta::server
