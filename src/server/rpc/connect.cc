#include "server/rpc/connect.h"

#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "base/json_writer.h"
#include "base/text.h"

namespace vesta::server {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kProtoType = "application/proto";

enum class Codec { kProto, kJson, kUnknown };

bool has_json(const RpcMethod& method) {
  return method.request_type != nullptr && method.response_type != nullptr;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// Parameters such as a charset say nothing new about either.
Codec codec_of(std::string_view content_type) {
  const std::string_view type = trim(content_type.substr(0, content_type.find(';')));
  if (equal_ignoring_case(type, kProtoType)) return Codec::kProto;
  if (equal_ignoring_case(type, kJsonType)) return Codec::kJson;
  return Codec::kUnknown;
}

HttpResponse not_allowed() {
  HttpResponse response;
  response.status = 405;
  response.headers = {{"Allow", "POST"}};
  return response;
}

HttpResponse unsupported_type(bool has_json) {
  HttpResponse response;
  response.status = 415;
  response.headers = {
      {"Accept-Post", has_json ? "application/json, application/proto" : "application/proto"}};
  return response;
}

HttpResponse deadline_exceeded() {
  JsonWriter json;
  json.begin_object();
  json.field("code", "deadline_exceeded");
  json.field("message", "the answer exceeded Connect-Timeout-Ms");
  json.end_object();
  HttpResponse response;
  response.status = 504;
  response.body = json.take();
  return response;
}

// Up to ten digits, as the protocol has it.
Result<std::chrono::steady_clock::time_point> deadline_of(const HttpRequest& request,
                                                          const Caller& caller) {
  const std::string_view text = request.header("connect-timeout-ms");
  if (text.empty()) return caller.deadline;
  uint64_t milliseconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
  if (error != std::errc() || end != text.data() + text.size() || text.size() > 10) {
    return Error{ErrorCode::kInvalidInput, "Connect-Timeout-Ms is not a number of milliseconds",
                 "send up to ten digits"};
  }
  return std::min(caller.deadline,
                  std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds));
}

std::unique_ptr<google::protobuf::Message> new_message(const google::protobuf::Message& type) {
  return std::unique_ptr<google::protobuf::Message>(type.New());
}

Result<std::string> proto_from_json(const std::string& json,
                                    const google::protobuf::Message& type) {
  if (json.empty()) {
    return Error{ErrorCode::kInvalidInput, "the body is empty", "send a JSON object, such as {}"};
  }
  if (json.size() > kMaxConnectJsonBytes) {
    return Error{ErrorCode::kLimit, "the JSON body is too large", "send application/proto instead"};
  }
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto message = new_message(type);
  const auto status = google::protobuf::util::JsonStringToMessage(json, message.get(), options);
  if (!status.ok()) {
    return Error{ErrorCode::kInvalidInput,
                 "cannot read the JSON body: " + std::string(status.message()), ""};
  }
  return message->SerializeAsString();
}

Result<std::string> json_from_proto(const std::string& bytes,
                                    const google::protobuf::Message& type) {
  const auto message = new_message(type);
  if (!message->ParseFromString(bytes)) {
    return Error{ErrorCode::kIo, "the answer has no JSON form", "ask for application/proto"};
  }
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(*message, &json);
  if (!status.ok()) {
    return Error{ErrorCode::kIo, "the answer has no JSON form: " + std::string(status.message()),
                 "ask for application/proto"};
  }
  return json;
}

std::optional<RpcCodec> codec_of_request(const RpcMethod& method, const HttpRequest& request) {
  const Codec codec = codec_of(request.header("content-type"));
  if (codec == Codec::kProto) return RpcCodec::kProto;
  if (codec == Codec::kJson && has_json(method)) return RpcCodec::kJson;
  return std::nullopt;
}

}  // namespace

Result<std::string> call_rpc(const RpcMethod& method, RpcCodec codec, const std::string& message,
                             const Caller& caller) {
  // A body that is not a message is answered; libprotobuf would write to standard error as well.
  const google::protobuf::LogSilencer silencer;
  if (codec == RpcCodec::kProto) return method.handler(message, caller);
  if (!has_json(method)) {
    return Error{ErrorCode::kUnsupported, method.path + " has no JSON form", "send protobuf"};
  }
  VESTA_ASSIGN(const std::string converted, proto_from_json(message, *method.request_type));
  VESTA_ASSIGN(const std::string answer, method.handler(converted, caller));
  return json_from_proto(answer, *method.response_type);
}

HttpResponse handle_connect(const RpcMethod& method, const HttpRequest& request,
                            const Caller& caller) {
  if (request.method != "POST") return not_allowed();
  const std::optional<RpcCodec> codec = codec_of_request(method, request);
  if (!codec) return unsupported_type(has_json(method));
  const std::string_view version = request.header("connect-protocol-version");
  if (!version.empty() && version != "1") {
    return error_response({ErrorCode::kInvalidInput, "Connect-Protocol-Version must be 1", ""});
  }
  Caller with_request = caller;
  with_request.headers = request.headers;
  const auto deadline = deadline_of(request, caller);
  if (!deadline) return error_response(deadline.error());
  with_request.deadline = *deadline;

  auto answer = call_rpc(method, *codec, request.body, with_request);
  if (answer) {
    HttpResponse response;
    response.body = std::move(*answer);
    response.content_type = *codec == RpcCodec::kJson ? kJsonType : kProtoType;
    return response;
  }
  // What gave up because of the time says so in the protocol's words.
  if (answer.error().code == ErrorCode::kLimit &&
      std::chrono::steady_clock::now() >= with_request.deadline) {
    return deadline_exceeded();
  }
  return error_response(answer.error());
}

}  // namespace vesta::server
