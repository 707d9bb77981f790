#include "server/app/target_routes.h"

#include "base/json_writer.h"

namespace vesta::server {
namespace {

std::string_view health_name(TargetHealth health) {
  switch (health) {
    case TargetHealth::kUp:
      return "up";
    case TargetHealth::kDown:
      return "down";
    case TargetHealth::kUnknown:
      break;
  }
  return "unknown";
}

void write_target(JsonWriter& json, const TargetStatus& target) {
  json.begin_object();
  json.field("job", target.job);
  json.field("url", target.url);
  json.field("profile", target.profile);
  json.key("labels").begin_object();
  for (const auto& [name, value] : target.labels) json.field(name, value);
  json.end_object();
  json.field("health", health_name(target.health));
  json.field("last_error", target.last_error);
  json.field("last_scrape_ns", target.last_scrape_ns);
  json.field("last_duration_ns", target.last_duration_ns);
  json.field("scrapes", target.scrapes);
  json.field("failures", target.failures);
  json.end_object();
}

}  // namespace

void add_target_routes(Routes& routes, const Scraper* scraper) {
  // Jobs belong to tenants, and each sees its own. Their addresses are the operator's: for admins.
  routes.add(HttpRoute{"GET", "/api/v1/targets", Scope::kAdmin,
                       [scraper](const HttpRequest&, const Caller& caller) {
                         JsonWriter json;
                         json.begin_object().key("targets").begin_array();
                         if (scraper != nullptr) {
                           for (const TargetStatus& target : scraper->targets(caller.tenant))
                             write_target(json, target);
                         }
                         json.end_array().key("problems").begin_array();
                         if (scraper != nullptr) {
                           for (const Error& problem : scraper->discovery_problems(caller.tenant))
                             json.string(problem.message);
                         }
                         json.end_array().end_object();
                         return json_response(json.take());
                       }});
}

}  // namespace vesta::server
