#include "server/native/native_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <memory>

#include "base/clock.h"
#include "base/suggest.h"
#include "server/native/route_table.h"

namespace vesta::server {
namespace {

Status check_parameters(const ApiRoute& route, const HttpRequest& request) {
  if (request.query.empty()) return {};
  const std::vector<std::string> known = parameter_names(route);
  for (const auto& [name, value] : request.query) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string near = nearest(name, known);
    return Error{
        ErrorCode::kUsage, fmt::format("unknown parameter '{}'", name),
        near.empty() ? "/api/v1/openapi.json lists them" : fmt::format("did you mean '{}'?", near)};
  }
  return {};
}

}  // namespace

int64_t ApiContext::now_ns() const {
  return options.clock().ns;
}

Result<FileShelf::File> ApiContext::find_file(std::string_view tenant, std::string_view id) const {
  if (id.empty()) return FileShelf::File();
  if (options.files != nullptr) return options.files->find(tenant, id);
  return Error{ErrorCode::kUnsupported, "opening files is disabled", ""};
}

QueryBudget ApiContext::budget() const {
  QueryBudget budget;
  budget.bytes = options.query_bytes;
  budget.deadline = std::chrono::steady_clock::now() + options.query_timeout;
  return budget;
}

std::vector<std::string> parameter_names(const ApiRoute& route) {
  std::vector<std::string> names;
  for (std::string_view group : route.parameters) {
    while (!group.empty()) {
      const size_t space = std::min(group.find(' '), group.size());
      names.emplace_back(group.substr(0, space));
      group.remove_prefix(std::min(space + 1, group.size()));
    }
  }
  return names;
}

std::vector<const ApiRoute*> all_routes() {
  std::vector<const ApiRoute*> all;
  for (const auto routes : {list_routes(), tree_routes(), table_routes(), time_routes(),
                            export_routes(), admin_routes(), overview_routes(), agent_routes(),
                            source_routes(), sample_routes(), file_routes()}) {
    for (const ApiRoute& route : routes) all.push_back(&route);
  }
  return all;
}

void add_native_routes(Routes& routes, Engine& engine, const NativeApiOptions& options) {
  const auto context = std::make_shared<const ApiContext>(ApiContext{engine, options});
  for (const ApiRoute* route : all_routes()) {
    routes.add(HttpRoute{std::string(route->method), std::string(route->path), route->scope,
                         [context, route](const HttpRequest& request, const Caller& caller) {
                           if (const Status status = check_parameters(*route, request); !status)
                             return error_response(status.error());
                           auto file = context->find_file(caller.tenant, request.parameter("file"));
                           if (!file) return error_response(file.error());
                           auto response = route->handler({*context, request, caller, *file});
                           return response.ok() ? std::move(*response)
                                                : error_response(response.error());
                         }});
  }
}

}  // namespace vesta::server
