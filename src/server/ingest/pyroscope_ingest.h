// Pyroscope's POST /ingest: parameters in the URL, a profile in the body. Any thread.
#pragma once

#include "ingest/ingest.h"
#include "server/api.h"

namespace vesta::server {

// 200 with an empty body; 400 for a bad name, 422 for a profile that cannot be read, 413, 429.
HttpResponse handle_pyroscope_ingest(Ingest& ingest, const HttpRequest& request,
                                     const Caller& caller);

}  // namespace vesta::server
