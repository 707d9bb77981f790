#include "server/grpc/grpc_protocol.h"

#include <fmt/format.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "formats/common/compression.h"
#include "formats/otlp/base64.h"
#include "server/grpc/grpc_status.h"
#include "server/http/http_text.h"
#include "server/rpc/dispatcher.h"

namespace vesta::server {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kGrpcType = "application/grpc";
constexpr size_t kPrefixBytes = 5;
constexpr uint8_t kCompressed = 1;
constexpr char kWebTrailers = static_cast<char>(0x80);
constexpr std::string_view kKnownCodings = "gzip,identity";

// What stands behind the messages.
struct Outcome {
  int code = kGrpcOk;
  std::string message;
  std::string details;  // google.rpc.Status; empty = none
};

Outcome outcome_of(const Error& error) {
  Outcome outcome{grpc_code_of(error.code), grpc_message_of(error), {}};
  if (is_passing(error.code)) outcome.details = grpc_retry_details(outcome.code, outcome.message);
  return outcome;
}

// The other way round of error_response().
Outcome outcome_of(const HttpResponse& response) {
  google::protobuf::Struct error;
  Outcome outcome{kGrpcUnknown, fmt::format("HTTP status {}", response.status), {}};
  if (google::protobuf::util::JsonStringToMessage(response.body, &error).ok()) {
    const auto& fields = error.fields();
    if (const auto code = fields.find("code"); code != fields.end()) {
      outcome.code = grpc_code_of(code->second.string_value());
    }
    if (const auto message = fields.find("message"); message != fields.end()) {
      outcome.message = message->second.string_value();
    }
  }
  // A method that does not exist is not implemented.
  if (response.status == 404) outcome.code = grpc_code_of(ErrorCode::kUnsupported);
  if (response.status == 429 || response.status == 503) {
    outcome.details = grpc_retry_details(outcome.code, outcome.message);
  }
  return outcome;
}

std::string content_type_of(const GrpcType& type) {
  std::string name(kGrpcType);
  if (type.form == GrpcForm::kWeb) name += "-web";
  if (type.form == GrpcForm::kWebText) name += "-web-text";
  return name + (type.codec == RpcCodec::kJson ? "+json" : "+proto");
}

void append_prefix(std::string& out, char flags, size_t size) {
  out += flags;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift & 0xFF);
}

Fields trailers_of(const Outcome& outcome) {
  Fields fields = {{"grpc-status", fmt::format("{}", outcome.code)}};
  if (!outcome.message.empty()) {
    fields.emplace_back("grpc-message", grpc_message_header(outcome.message));
  }
  if (!outcome.details.empty()) {
    std::string text = otlp::to_base64(outcome.details);
    text.erase(std::min(text.find('='), text.size()));
    fields.emplace_back("grpc-status-details-bin", std::move(text));
  }
  return fields;
}

// `messages` with their prefixes; empty when the call failed.
HttpResponse finish(const GrpcType& type, std::string messages, const Outcome& outcome) {
  HttpResponse response;
  response.content_type = content_type_of(type);
  response.compressible = false;
  response.body = std::move(messages);
  response.headers = {{"grpc-accept-encoding", std::string(kKnownCodings)}};
  Fields trailers = trailers_of(outcome);
  if (type.form == GrpcForm::kGrpc) {
    for (auto& [name, value] : trailers) {
      response.headers.emplace_back(std::string(kTrailerPrefix) + name, std::move(value));
    }
    return response;
  }
  std::string block;
  for (const auto& [name, value] : trailers) block += name + ": " + value + "\r\n";
  append_prefix(response.body, kWebTrailers, block.size());
  response.body += block;
  if (type.form == GrpcForm::kWebText) response.body = otlp::to_base64(response.body);
  return response;
}

// Clients encode piece by piece, so that padding may stand between two pieces.
Result<std::string> from_web_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t padding = text.find('=');
    size_t end = padding;
    while (end < text.size() && text[end] == '=') ++end;
    const auto piece = otlp::from_base64(text.substr(0, std::min(padding, text.size())));
    if (!piece) {
      return Error{ErrorCode::kInvalidInput, "the body is not base64", "send application/grpc-web"};
    }
    out += *piece;
    text.remove_prefix(std::min(end, text.size()));
  }
  return out;
}

Result<std::string> read_message(const GrpcType& type, HttpRequest& request, uint64_t max_bytes,
                                 MemoryBudget::Lease& lease) {
  std::string body = std::move(request.body);
  request.body = {};
  if (type.form == GrpcForm::kWebText) {
    if (!lease.resize(body.size() * 2)) {
      return Error{ErrorCode::kTooMany, "requests in flight exceed the server's memory limit",
                   "try again in a moment"};
    }
    VESTA_ASSIGN(body, from_web_text(body));
    lease.resize(body.size());
  }
  if (body.empty()) return Error{ErrorCode::kInvalidInput, "the call has no message", {}};
  if (body.size() < kPrefixBytes) {
    return Error{ErrorCode::kInvalidInput, "the message ends before its length", {}};
  }
  const auto flags = static_cast<uint8_t>(body[0]);
  size_t size = 0;
  for (size_t i = 1; i < kPrefixBytes; ++i) size = size << 8 | static_cast<uint8_t>(body[i]);
  if (size > body.size() - kPrefixBytes) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("the message has {} bytes, of which {} arrived", size,
                             body.size() - kPrefixBytes),
                 {}};
  }
  if (size < body.size() - kPrefixBytes) {
    return Error{ErrorCode::kUnsupported, "the call has more than one message",
                 "send one message per call"};
  }
  if (flags > kCompressed) {
    return Error{
        ErrorCode::kInvalidInput, fmt::format("unknown flags {:#04x} of a message", flags), {}};
  }
  body.erase(0, kPrefixBytes);
  if (flags == 0) return body;
  const std::string coding = lower_case(trim(request.header("grpc-encoding")));
  if (coding.empty() || coding == "identity") {
    return Error{ErrorCode::kInvalidInput, "the message is compressed, but has no grpc-encoding",
                 "send grpc-encoding: gzip"};
  }
  if (coding != "gzip") {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("unknown grpc-encoding {}", header_safe(coding)),
                 "send gzip or identity"};
  }
  return decode_body(std::move(body), coding, max_bytes, lease);
}

// "10S", "200m": up to eight digits and a unit.
Result<Clock::time_point> deadline_of(const HttpRequest& request, Clock::time_point latest) {
  const std::string_view text = request.header("grpc-timeout");
  if (text.empty()) return latest;
  const Error bad{ErrorCode::kInvalidInput, "grpc-timeout is not a valid duration",
                  "send up to eight digits and one of H, M, S, m, u, n"};
  if (text.size() < 2 || text.size() > 9) return bad;
  int64_t number = 0;
  const char* const end = text.data() + text.size() - 1;
  if (const auto read = std::from_chars(text.data(), end, number);
      read.ec != std::errc() || read.ptr != end || number < 0) {
    return bad;
  }
  std::chrono::nanoseconds unit{};
  switch (text.back()) {
    case 'H':
      unit = std::chrono::hours(1);
      break;
    case 'M':
      unit = std::chrono::minutes(1);
      break;
    case 'S':
      unit = std::chrono::seconds(1);
      break;
    case 'm':
      unit = std::chrono::milliseconds(1);
      break;
    case 'u':
      unit = std::chrono::microseconds(1);
      break;
    case 'n':
      unit = std::chrono::nanoseconds(1);
      break;
    default:
      return bad;
  }
  // No handler runs for a day; 99 999 999 hours would not fit.
  constexpr std::chrono::nanoseconds kDay = std::chrono::hours(24);
  if (number > kDay / unit) return latest;
  return std::min(latest, Clock::now() + unit * number);
}

std::string pack_message(const HttpRequest& request, std::string message, bool& compressed) {
  compressed = message.size() >= kMinCompressedBytes &&
               accepts_encoding(request.header("grpc-accept-encoding"), "gzip");
  if (compressed) message = gzip(message, kGzipLevel);
  std::string out;
  out.reserve(kPrefixBytes + message.size());
  append_prefix(out, compressed ? kCompressed : 0, message.size());
  out += message;
  return out;
}

}  // namespace

std::optional<GrpcType> grpc_type_of(std::string_view content_type) {
  const std::string name = lower_case(trim(content_type.substr(0, content_type.find(';'))));
  std::string_view rest = name;
  if (!rest.starts_with(kGrpcType)) return std::nullopt;
  rest.remove_prefix(kGrpcType.size());
  GrpcType type;
  for (const auto& [word, form] : {std::pair{std::string_view("-web-text"), GrpcForm::kWebText},
                                   std::pair{std::string_view("-web"), GrpcForm::kWeb}}) {
    if (!rest.starts_with(word)) continue;
    type.form = form;
    rest.remove_prefix(word.size());
    break;
  }
  if (rest == "+json") {
    type.codec = RpcCodec::kJson;
  } else if (!rest.empty() && rest != "+proto") {
    return std::nullopt;
  }
  return type;
}

HttpResponse handle_grpc(const GrpcType& type, const RpcMethod& method, HttpRequest& request,
                         const Caller& caller, uint64_t max_decoded_bytes,
                         MemoryBudget::Lease& lease) {
  const bool is_http2 = !request.header(":scheme").empty();
  if (type.form == GrpcForm::kGrpc && !is_http2) {
    return error_response(
        {ErrorCode::kUnsupported, "gRPC needs HTTP/2", "use HTTP/2, or send application/grpc-web"},
        415);
  }
  const auto fail = [&](const Error& error, const Outcome& outcome) {
    HttpResponse response = finish(type, {}, outcome);
    response.status = http_status_of(error.code);
    return response;
  };
  const auto deadline = deadline_of(request, caller.deadline);
  if (!deadline) return fail(deadline.error(), outcome_of(deadline.error()));
  auto message = read_message(type, request, max_decoded_bytes, lease);
  if (!message) return fail(message.error(), outcome_of(message.error()));
  Caller with_request = caller;
  with_request.headers = request.headers;
  with_request.deadline = *deadline;
  auto answer = call_rpc(method, type.codec, *message, with_request);
  *message = {};
  lease.resize(0);
  if (!answer) {
    // What gave up because of the time says so in the protocol's words.
    if (answer.error().code == ErrorCode::kLimit && Clock::now() >= *deadline) {
      HttpResponse late =
          finish(type, {}, {kGrpcDeadlineExceeded, "the answer exceeded grpc-timeout", {}});
      late.status = 504;
      return late;
    }
    return fail(answer.error(), outcome_of(answer.error()));
  }
  bool compressed = false;
  HttpResponse response =
      finish(type, pack_message(request, std::move(*answer), compressed), {kGrpcOk, {}, {}});
  if (compressed) response.headers.emplace_back("grpc-encoding", "gzip");
  return response;
}

HttpResponse grpc_failure(const GrpcType& type, const HttpResponse& response) {
  HttpResponse failure = finish(type, {}, outcome_of(response));
  failure.status = response.status;
  return failure;
}

bool is_grpc(const HttpResponse& response) {
  return response.content_type.starts_with(kGrpcType);
}

int sent_status(const HttpResponse& response) {
  return is_grpc(response) ? 200 : response.status;
}

}  // namespace vesta::server
