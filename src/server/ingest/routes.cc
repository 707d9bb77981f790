#include "server/ingest/routes.h"

#include <google/protobuf/util/json_util.h>

#include <parca/profilestore/v1alpha1/profilestore.pb.h>
#include <push/v1/push.pb.h>

#include "server/ingest/native.h"
#include "server/ingest/otlp.h"
#include "server/ingest/push.h"
#include "server/ingest/pyroscope_ingest.h"
#include "server/ingest/responses.h"

namespace vesta::server {
namespace {

namespace parca = ::parca::profilestore::v1alpha1;

// Parca's gateway takes the message of the call as JSON.
HttpResponse handle_write_raw_json(Ingest& ingest, const HttpRequest& request,
                                   const Caller& caller) {
  if (auto status = check_body_size(ingest, caller, request.body.size()); !status)
    return refusal(ingest, IngestProtocol::kParca, caller, status.error());
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  parca::WriteRawRequest message;
  const auto status = google::protobuf::util::JsonStringToMessage(request.body, &message, options);
  if (!status.ok()) {
    return refusal(ingest, IngestProtocol::kParca, caller,
                   Error{ErrorCode::kInvalidInput,
                         "not a WriteRawRequest in JSON: " + std::string(status.message()), ""});
  }
  const auto result = handle_write_raw(ingest, message.SerializeAsString(), caller);
  if (!result) return error_response(result.error());
  return json_response("{}");
}

}  // namespace

void add_ingest_routes(Routes& routes, Ingest& ingest) {
  const auto post = [&](std::string path, auto handler) {
    routes.add(HttpRoute{"POST", std::move(path), Scope::kWrite,
                         [&ingest, handler](const HttpRequest& request, const Caller& caller) {
                           return handler(ingest, request, caller);
                         }});
  };
  post("/ingest", handle_pyroscope_ingest);
  post("/pyroscope/ingest", handle_pyroscope_ingest);
  post("/v1development/profiles", handle_otlp_http);
  post("/api/v1/profiles", handle_native_profiles);
  post("/profiles/writeraw", handle_write_raw_json);

  const auto call = [&](std::string path, auto handler, const google::protobuf::Message* request,
                        const google::protobuf::Message* response) {
    routes.add(RpcMethod{std::move(path), Scope::kWrite,
                         [&ingest, handler](std::string_view bytes, const Caller& caller) {
                           return handler(ingest, bytes, caller);
                         },
                         request, response});
  };
  call("/push.v1.PusherService/Push", handle_push, &push::v1::PushRequest::default_instance(),
       &push::v1::PushResponse::default_instance());
  call("/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw", handle_write_raw,
       &parca::WriteRawRequest::default_instance(), &parca::WriteRawResponse::default_instance());
  // OTLP has a JSON of its own, which the HTTP route speaks.
  call("/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export",
       handle_otlp_export, nullptr, nullptr);
}

}  // namespace vesta::server
