#include "server/ingest/otlp.h"

#include <fmt/format.h>

#include "base/json_writer.h"
#include "formats/otlp/reader.h"
#include "formats/protobuf/wire.h"
#include "ingest/otlp_types.h"
#include "server/ingest/responses.h"

namespace vesta::server {
namespace {

constexpr IngestProtocol kOtlpProtocol = IngestProtocol::kOtlp;

enum class Encoding { kProtobuf, kJson };

struct PartialSuccess {
  uint64_t rejected = 0;
  std::string message;
};

Result<PartialSuccess> export_profiles(Ingest& ingest, std::string_view body, Encoding encoding,
                                       std::string_view id, const Caller& caller) {
  VESTA_TRY(begin_ingest(ingest, kOtlpProtocol, caller, body.size()));
  PartialSuccess answer;
  if (body.empty()) return answer;
  const ReadOptions options = ingest.read_options(caller.tenant);
  OtlpOutcome outcome;
  VESTA_ASSIGN(ProfileBatch batch, encoding == Encoding::kJson
                                       ? read_otlp_json_partly(body, options, outcome)
                                       : read_otlp_partly(body, options, outcome));
  ingest.counters().note(IngestNote::kOriginalPayloads, outcome.original_payloads);
  ingest.counters().note(IngestNote::kRejectedProfiles, outcome.rejected);
  name_otlp_types(batch);
  name_otlp_labels(batch);
  IngestHints hints;
  hints.protocol = kOtlpProtocol;
  hints.decoded_bytes = body.size();
  hints.partial = true;
  hints.id = id.empty() ? std::move(outcome.profile_ids) : std::string(id);
  const size_t readable = batch.profiles.size();
  IngestReceipt receipt;
  if (readable > 0) {
    VESTA_ASSIGN(receipt, ingest.write(caller.tenant, std::move(batch), hints));
  }
  answer.rejected = outcome.rejected + receipt.rejected_profiles;
  if (answer.rejected == 0) return answer;
  const Error& first = outcome.rejected > 0 ? outcome.first_problem : receipt.problems.front();
  // Nothing was taken: that is no partial success.
  if (receipt.rejected_profiles == readable) return first;
  answer.message = first.hint.empty() ? first.message : first.message + "; " + first.hint;
  return answer;
}

std::string encode(const PartialSuccess& answer, Encoding encoding) {
  if (encoding == Encoding::kJson) {
    JsonWriter json;
    json.begin_object();
    if (answer.rejected > 0) {
      json.key("partialSuccess").begin_object();
      // 64-bit integers are strings in the JSON of protobuf.
      json.field("rejectedProfiles", std::to_string(answer.rejected));
      json.field("errorMessage", answer.message);
      json.end_object();
    }
    json.end_object();
    return json.take();
  }
  WireWriter response;
  if (answer.rejected > 0) {
    WireWriter partial;
    partial.uint64(1, answer.rejected);
    partial.bytes(2, answer.message);
    response.message(1, partial);
  }
  return response.take();
}

// google.rpc.Code
int grpc_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kUsage:
      return 3;
    case ErrorCode::kNotFound:
    case ErrorCode::kNoData:
      return 5;
    case ErrorCode::kPermission:
      return 7;
    case ErrorCode::kLimit:
    case ErrorCode::kTooMany:
      return 8;
    case ErrorCode::kUnsupported:
      return 12;
    case ErrorCode::kIo:
      return 13;
    case ErrorCode::kUnavailable:
      return 14;
    case ErrorCode::kUnauthenticated:
      return 16;
  }
  return 13;
}

std::string encode_status(const Error& error, Encoding encoding) {
  const std::string message =
      error.hint.empty() ? error.message : fmt::format("{}; {}", error.message, error.hint);
  if (encoding == Encoding::kJson) {
    JsonWriter json;
    json.begin_object();
    json.field("code", int64_t{grpc_code_of(error.code)});
    json.field("message", message);
    json.end_object();
    return json.take();
  }
  WireWriter status;
  status.int64(1, grpc_code_of(error.code));
  status.bytes(2, message);
  return status.take();
}

}  // namespace

Result<std::string> handle_otlp_export(Ingest& ingest, std::string_view request,
                                       const Caller& caller) {
  auto answer = export_profiles(ingest, request, Encoding::kProtobuf,
                                caller.header(kIdempotencyHeader), caller);
  if (answer) return encode(*answer, Encoding::kProtobuf);
  ingest.counters().count_refusal(kOtlpProtocol, answer.error().code);
  return std::move(answer).error();
}

HttpResponse handle_otlp_http(Ingest& ingest, const HttpRequest& request, const Caller& caller) {
  std::string_view type = request.header("content-type");
  type = type.substr(0, type.find(';'));
  const bool is_json = type == "application/json";
  if (!is_json && type != "application/x-protobuf" && type != "application/protobuf") {
    Error error{ErrorCode::kInvalidInput,
                fmt::format("Content-Type: '{}' is not supported", type.substr(0, 80)),
                "send application/x-protobuf or application/json"};
    return refusal(ingest, kOtlpProtocol, caller, error, 415);
  }
  const Encoding encoding = is_json ? Encoding::kJson : Encoding::kProtobuf;
  HttpResponse response;
  const auto answer =
      export_profiles(ingest, request.body, encoding, request.header(kIdempotencyHeader), caller);
  if (answer) {
    response.body = encode(*answer, encoding);
  } else {
    response = refusal(ingest, kOtlpProtocol, caller, answer.error());
    response.body = encode_status(answer.error(), encoding);
  }
  response.content_type = is_json ? "application/json" : "application/x-protobuf";
  return response;
}

}  // namespace vesta::server
