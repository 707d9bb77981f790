#include "server/http/http_session.h"

#include "server/http/http1_session.h"

namespace vesta::server {
namespace http1 {

ReadProblem read_problem(const error_code& error, const HttpLimits& limits, uint64_t max_body) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return {431, "header_size", ErrorCode::kLimit,
            fmt::format("the head of the request is larger than {} bytes", limits.max_header_bytes),
            "send fewer or shorter headers"};
  }
  if (error == http::error::body_limit) {
    return {413, "body_size", ErrorCode::kLimit,
            fmt::format("the body is larger than {} bytes", max_body),
            "send smaller requests, or raise limits.max_body_bytes"};
  }
  if (error == boost::system::errc::not_enough_memory) {
    return {429, "memory", ErrorCode::kTooMany,
            "requests in flight exceed the server's memory limit", "try again in a moment"};
  }
  if (error.category() == http::make_error_code(http::error::bad_method).category()) {
    return {400,
            "malformed",
            ErrorCode::kInvalidInput,
            fmt::format("the request is not HTTP/1.1: {}", error.message()),
            {}};
  }
  return {};
}

}  // namespace http1

std::shared_ptr<HttpSession> make_http_session(HttpEnvironment& environment,
                                               HttpConnection connection) {
  using http1::tcp;
  PlainStream::socket_type socket(connection.io);
  boost::system::error_code error;
  socket.assign(connection.is_ipv6 ? tcp::v6() : tcp::v4(), connection.socket, error);
  socket.set_option(tcp::no_delay(true), error);
  PlainStream stream(std::move(socket));
  if (connection.tls != nullptr) {
    return http1::make_tls_session(environment, std::move(connection), std::move(stream));
  }
  return http1::make_plain_session(environment, std::move(connection), std::move(stream));
}

}  // namespace vesta::server
