// OpenTelemetry's profiles, exported by gRPC and by HTTP. A profile that is wrong in itself is
// refused alone: the answer says how many were, and why. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "ingest/ingest.h"
#include "server/api.h"

namespace vesta::server {

// ExportProfilesServiceRequest to ExportProfilesServiceResponse, as protobuf.
Result<std::string> handle_otlp_export(Ingest& ingest, std::string_view request,
                                       const Caller& caller);

// The same by HTTP, as protobuf or JSON; the answer is in the encoding of the request, errors are
// google.rpc.Status.
HttpResponse handle_otlp_http(Ingest& ingest, const HttpRequest& request, const Caller& caller);

}  // namespace vesta::server
