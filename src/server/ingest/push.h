// Calls that carry pprofs with labels: Pyroscope's Push and Parca's WriteRaw. Messages are read
// straight from the wire. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "ingest/ingest.h"
#include "server/api.h"

namespace vesta::server {

// push.v1.PushRequest. Every series is tried; when some fail, the others are stored all the same
// and the error tells of the first ones.
Result<std::string> handle_push(Ingest& ingest, std::string_view request, const Caller& caller);

// parca.profilestore.v1alpha1.WriteRawRequest.
Result<std::string> handle_write_raw(Ingest& ingest, std::string_view request,
                                     const Caller& caller);

}  // namespace vesta::server
