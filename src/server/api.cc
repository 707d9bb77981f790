#include "server/api.h"

#include "base/json_writer.h"

namespace vesta::server {
namespace {

std::optional<std::string_view> find(const Fields& fields, std::string_view name) {
  for (const auto& [key, value] : fields) {
    if (key == name) return value;
  }
  return std::nullopt;
}

}  // namespace

std::string_view Caller::header(std::string_view name) const {
  return find(headers, name).value_or(std::string_view());
}
std::string_view HttpRequest::header(std::string_view name) const {
  return find(headers, name).value_or(std::string_view());
}
std::string_view HttpRequest::parameter(std::string_view name) const {
  return find(query, name).value_or(std::string_view());
}
std::optional<std::string_view> HttpRequest::find_parameter(std::string_view name) const {
  return find(query, name);
}
std::string_view HttpRequest::path_field(std::string_view name) const {
  return find(path_fields, name).value_or(std::string_view());
}
std::vector<std::string_view> HttpRequest::parameters(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [key, value] : query) {
    if (key == name) values.push_back(value);
  }
  return values;
}

int http_status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kUsage:
      return 400;
    case ErrorCode::kUnauthenticated:
      return 401;
    case ErrorCode::kPermission:
      return 403;
    case ErrorCode::kNotFound:
    case ErrorCode::kNoData:
      return 404;
    case ErrorCode::kLimit:
      return 413;
    case ErrorCode::kTooMany:
      return 429;
    case ErrorCode::kUnsupported:
      return 501;
    case ErrorCode::kUnavailable:
      return 503;
    case ErrorCode::kIo:
      return 500;
  }
  return 500;
}

std::string_view connect_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kUsage:
      return "invalid_argument";
    case ErrorCode::kUnauthenticated:
      return "unauthenticated";
    case ErrorCode::kPermission:
      return "permission_denied";
    case ErrorCode::kNotFound:
    case ErrorCode::kNoData:
      return "not_found";
    case ErrorCode::kLimit:
    case ErrorCode::kTooMany:
      return "resource_exhausted";
    case ErrorCode::kUnsupported:
      return "unimplemented";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kIo:
      return "internal";
  }
  return "internal";
}

HttpResponse error_response(const Error& error) {
  return error_response(error, http_status_of(error.code));
}

HttpResponse error_response(const Error& error, int status) {
  JsonWriter json;
  json.begin_object();
  json.field("code", connect_code_of(error.code));
  json.field("message", error.hint.empty() ? error.message : error.message + "; " + error.hint);
  json.end_object();
  HttpResponse response;
  response.status = status;
  response.body = json.take();
  return response;
}

HttpResponse json_response(std::string body) {
  HttpResponse response;
  response.body = std::move(body);
  return response;
}

}  // namespace vesta::server
