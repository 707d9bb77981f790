#include "server/pyroscope/routes.h"

#include <google/protobuf/empty.pb.h>

#include <memory>

#include "server/pyroscope/query_api.h"
#include "server/pyroscope/rpc_method.h"

namespace vesta::server {
namespace {

// What needs another server (a Git host, a target for metrics) that Vesta does not talk to.
constexpr std::string_view kUnimplemented[] = {
    "/settings.v1.CollectionRulesService/UpsertCollectionRule",
    "/settings.v1.RecordingRulesService/UpsertRecordingRule",
    "/vcs.v1.VCSService/GetCommit",
    "/vcs.v1.VCSService/GetCommits",
    "/vcs.v1.VCSService/GetFile",
    "/vcs.v1.VCSService/GithubApp",
    "/vcs.v1.VCSService/GithubLogin",
    "/vcs.v1.VCSService/GithubRefresh",
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
  const auto api =
      std::make_shared<const QueryApi>(QueryApi{engine, options, std::make_shared<ValuedTypes>()});
  add_index_methods(routes, api);
  add_stack_methods(routes, api);
  add_series_methods(routes, api);
  add_render_routes(routes, api);
  add_settings_methods(routes, api);
  add_capability_methods(routes, api);
  add_adhoc_methods(routes, api);
  add_debug_info_routes(routes, api);
  for (const std::string_view path : kUnimplemented) routes.add(unimplemented(path));
}

}  // namespace vesta::server
