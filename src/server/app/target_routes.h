// Which programs are asked for profiles, and how that goes: GET /api/v1/targets.
#pragma once

#include "ingest/scrape/scraper.h"
#include "server/api.h"

namespace vesta::server {

// `scraper` may be null: then there are none. It must outlive the routes.
void add_target_routes(Routes& routes, const Scraper* scraper);

}  // namespace vesta::server
