#include "net/http_get.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "net/http_client.h"

namespace vesta {
namespace {

constexpr int64_t kSecondsPerDay = 86400;

// `?seconds=30` makes the server record for that long before it answers.
int64_t seconds_in(const std::string& url) {
  const size_t at = url.find("seconds=");
  return at == std::string::npos ? 0 : std::strtoll(url.c_str() + at + 8, nullptr, 10);
}

std::string first_line(const std::string& text) {
  return text.substr(0, std::min<size_t>(text.find('\n'), 200));
}

}  // namespace

bool is_url(const std::string& source) {
  return source.starts_with("http://") || source.starts_with("https://");
}

Result<std::string> http_get(const std::string& url, uint64_t max_bytes) {
  HttpGetOptions options;
  options.max_bytes = max_bytes;
  return http_get(url, options);
}

Result<std::string> http_get(const std::string& url, const HttpGetOptions& options) {
  HttpCall call;
  call.url = url;
  call.max_bytes = options.max_bytes;
  call.headers = options.headers;
  call.is_cancelled = options.is_cancelled;
  if (options.timeout.count() > 0) {
    call.timeout = options.timeout;
  } else {
    call.timeout += std::chrono::seconds(std::clamp<int64_t>(seconds_in(url), 0, kSecondsPerDay));
  }
  auto answer = http_call(call);
  if (!answer.ok()) {
    Error error = std::move(answer).error();
    if (error.code == ErrorCode::kLimit)
      error.hint = "raise the limit with --max-size if you trust the server";
    return error;
  }
  if (answer->status != 200) {
    return Error{
        ErrorCode::kIo,
        fmt::format("the server answered {}: {}", answer->status, first_line(answer->body)),
        answer->status == 404
            ? "Go programs serve profiles at /debug/pprof/profile and /debug/pprof/heap"
            : ""};
  }
  return std::move(answer->body);
}

}  // namespace vesta
