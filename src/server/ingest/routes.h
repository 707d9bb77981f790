// All ways in for profiles, as routes. The ingest must outlive the routes.
#pragma once

#include "ingest/ingest.h"
#include "server/api.h"

namespace vesta::server {

void add_ingest_routes(Routes& routes, Ingest& ingest);

}  // namespace vesta::server
