#include "cli/http_get.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <memory>

namespace vesta::cli {
namespace {

struct Download {
  std::string body;
  uint64_t max_bytes = 0;
  bool too_large = false;
};

size_t receive(const char* bytes, size_t size, size_t count, void* user) {
  auto* download = static_cast<Download*>(user);
  if (download->body.size() + size * count > download->max_bytes) {
    download->too_large = true;
    return 0;
  }
  download->body.append(bytes, size * count);
  return size * count;
}

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
  static const CURLcode kGlobal = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 &curl_easy_cleanup);
  if (kGlobal != CURLE_OK || curl == nullptr)
    return Error{ErrorCode::kIo, "cannot start the HTTP client", ""};
  Download download;
  download.max_bytes = max_bytes;
  char reason[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_MAXREDIRS, 5L);
  curl_easy_setopt(curl.get(), CURLOPT_CONNECTTIMEOUT, 10L);
  curl_easy_setopt(
      curl.get(), CURLOPT_TIMEOUT,
      static_cast<long>(60 + std::max<int64_t>(0, std::min<int64_t>(seconds_in(url), 86400))));
  curl_easy_setopt(curl.get(), CURLOPT_USERAGENT, "vesta");
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, reason);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &receive);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &download);
  const CURLcode code = curl_easy_perform(curl.get());
  if (download.too_large) {
    return Error{ErrorCode::kLimit,
                 fmt::format("the answer is larger than the limit of {} bytes", max_bytes),
                 "raise the limit with --max-size if you trust the server"};
  }
  if (code != CURLE_OK) {
    return Error{
        ErrorCode::kIo,
        fmt::format("cannot fetch it: {}", *reason != '\0' ? reason : curl_easy_strerror(code)),
        "check the address and that the program listens there"};
  }
  long status = 0;
  curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status != 200) {
    return Error{ErrorCode::kIo,
                 fmt::format("the server answered {}: {}", status, first_line(download.body)),
                 status == 404
                     ? "Go programs serve profiles at /debug/pprof/profile and /debug/pprof/heap"
                     : ""};
  }
  return std::move(download.body);
}

}  // namespace vesta::cli
