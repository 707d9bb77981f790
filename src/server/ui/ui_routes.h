// Serves the pages. They know no path of their own but relative ones, so that they work behind any
// prefix. Refers to the assets, which must outlive the routes; handlers are thread-safe.
#pragma once

#include "server/api.h"
#include "server/ui/ui_assets.h"

namespace vesta::server {

void add_ui_routes(Routes& routes, std::span<const UiAsset> assets);

}  // namespace vesta::server
