#include "agent/export/senders/http_post.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/export/senders/http_outcome.h"

namespace vesta::agent {
namespace {

// OTLP asks clients not to take more.
constexpr uint64_t kMaxAnswerBytes = uint64_t{4} << 20;

}  // namespace

HttpPost::HttpPost(const ExporterConfig& config, std::string_view version, const ExportClock& clock)
    : clock_(clock) {
  call_.method = "POST";
  call_.max_bytes = kMaxAnswerBytes;
  call_.timeout = std::chrono::milliseconds(std::max<int64_t>(config.timeout_ns / 1'000'000, 1));
  call_.connect_timeout = std::min(call_.connect_timeout, call_.timeout);
  call_.follow_redirects = false;
  call_.is_cancelled = [this] { return is_cancelled_.load(); };
  call_.ca_file = config.tls.ca_file;
  call_.cert_file = config.tls.cert_file;
  call_.key_file = config.tls.key_file;
  call_.skip_verify = config.tls.skip_verify;
  call_.headers = {{"User-Agent", fmt::format("vesta/{}", version)}};
  call_.headers.insert(call_.headers.end(), config.headers.begin(), config.headers.end());
}

SendOutcome HttpPost::post(const std::string& url, std::string body, const Headers& headers,
                           HttpAnswer& answer) {
  HttpCall call = call_;
  call.url = url;
  call.body = std::move(body);
  call.headers.insert(call.headers.end(), headers.begin(), headers.end());
  Result<HttpAnswer> got = connection_.call(call);
  SendOutcome outcome = outcome_of(got, clock_.unix_now());
  if (outcome.kind != SendOutcome::Kind::kSent) return outcome;
  // Some box on the way answers for the server.
  if (got->header("content-type").find("html") != std::string_view::npos)
    return SendOutcome::retry(fmt::format("HTTP {} with a web page", got->status));
  answer = std::move(*got);
  return outcome;
}

std::string with_path(std::string_view url, std::string_view path) {
  const size_t end = std::min(url.find('?'), url.size());
  std::string_view base = url.substr(0, end);
  const std::string_view query = url.substr(end);
  while (base.ends_with('/')) base.remove_suffix(1);
  if (base.ends_with(path)) return fmt::format("{}{}", base, query);
  return fmt::format("{}{}{}", base, path, query);
}

bool has_no_path(std::string_view url) {
  const size_t scheme = url.find("://");
  const size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  const size_t path = url.find('/', host);
  return path == std::string_view::npos || path + 1 == url.size();
}

}  // namespace vesta::agent
