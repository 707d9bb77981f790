#include "net/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "base/text.h"
#include "net/curl_library.h"

namespace vesta {
namespace {

constexpr size_t kMaxHeaders = 256;

struct Receiver {
  HttpAnswer answer;
  uint64_t max_bytes = 0;
  bool too_large = false;
};

size_t receive(const char* bytes, size_t size, size_t count, void* user) {
  auto* receiver = static_cast<Receiver*>(user);
  if (receiver->answer.body.size() + size * count > receiver->max_bytes) {
    receiver->too_large = true;
    return 0;
  }
  receiver->answer.body.append(bytes, size * count);
  return size * count;
}

size_t receive_header(const char* bytes, size_t size, size_t count, void* user) {
  auto* receiver = static_cast<Receiver*>(user);
  const std::string_view line(bytes, size * count);
  auto& headers = receiver->answer.headers;
  if (line.starts_with("HTTP/")) headers.clear();  // of a redirect, or "100 Continue"
  const size_t colon = line.find(':');
  if (colon != std::string_view::npos && headers.size() < kMaxHeaders) {
    std::string name(trim(line.substr(0, colon), " \t\r\n"));
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    headers.emplace_back(std::move(name), trim(line.substr(colon + 1), " \t\r\n"));
  }
  return size * count;
}

int progress(void* user, curl_off_t /*to_get*/, curl_off_t /*got*/, curl_off_t /*to_put*/,
             curl_off_t /*put*/) {
  const auto* call = static_cast<const HttpCall*>(user);
  return call->is_cancelled() ? 1 : 0;
}

using HeaderList = std::unique_ptr<curl_slist, decltype(CurlLibrary::slist_free_all)>;

HeaderList header_list(const CurlLibrary& library, const HttpCall& call) {
  HeaderList list(nullptr, library.slist_free_all);
  const auto append = [&](const std::string& line) {
    list.reset(library.slist_append(list.release(), line.c_str()));
  };
  for (const auto& [name, value] : call.headers) append(fmt::format("{}: {}", name, value));
  append("Expect:");  // the round trip that it saves is worth more than a refused body
  return list;
}

void set_body(const CurlLibrary& library, CURL* curl, const HttpCall& call) {
  if (call.method == "GET") {
    library.easy_setopt(curl, CURLOPT_HTTPGET, 1L);
    return;
  }
  library.easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call.method.c_str());
  if (call.method == "DELETE" && call.body.empty()) return;
  library.easy_setopt(curl, CURLOPT_POSTFIELDS, call.body.data());
  library.easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
}

void set_tls(const CurlLibrary& library, CURL* curl, const HttpCall& call) {
  if (!call.ca_file.empty()) library.easy_setopt(curl, CURLOPT_CAINFO, call.ca_file.c_str());
  if (!call.cert_file.empty()) {
    library.easy_setopt(curl, CURLOPT_SSLCERT, call.cert_file.c_str());
    library.easy_setopt(curl, CURLOPT_SSLKEY, call.key_file.c_str());
  }
  if (call.skip_verify) {
    library.easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    library.easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
  }
}

}  // namespace

std::string_view HttpAnswer::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

HttpConnection::HttpConnection() {
  if (const auto library = curl_library()) curl_ = (*library)->easy_init();
}

HttpConnection::~HttpConnection() {
  if (curl_ != nullptr) (*curl_library())->easy_cleanup(curl_);
}

Result<HttpAnswer> http_call(const HttpCall& call) {
  return HttpConnection().call(call);
}

Result<HttpAnswer> HttpConnection::call(const HttpCall& call) {
  VESTA_ASSIGN(const CurlLibrary* const loaded, curl_library());
  const CurlLibrary& library = *loaded;
  CURL* const curl = curl_;
  if (curl == nullptr) return Error{ErrorCode::kIo, "cannot start the HTTP client", ""};
  library.easy_reset(curl);  // options only; connections stay
  Receiver receiver;
  receiver.max_bytes = call.max_bytes;
  const HeaderList headers = header_list(library, call);
  char reason[CURL_ERROR_SIZE] = "";
  library.easy_setopt(curl, CURLOPT_URL, call.url.c_str());
  if (!call.unix_socket.empty())
    library.easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, call.unix_socket.c_str());
  library.easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  library.easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  const bool follow = call.follow_redirects && call.method == "GET";
  library.easy_setopt(curl, CURLOPT_FOLLOWLOCATION, follow ? 1L : 0L);
  library.easy_setopt(curl, CURLOPT_MAXREDIRS, 5L);
  library.easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                      static_cast<long>(call.connect_timeout.count()));
  library.easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(call.timeout.count()));
  library.easy_setopt(curl, CURLOPT_USERAGENT, "vesta");
  library.easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  library.easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
  library.easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  set_tls(library, curl, call);
  set_body(library, curl, call);
  library.easy_setopt(curl, CURLOPT_WRITEFUNCTION, &receive);
  library.easy_setopt(curl, CURLOPT_WRITEDATA, &receiver);
  library.easy_setopt(curl, CURLOPT_HEADERFUNCTION, &receive_header);
  library.easy_setopt(curl, CURLOPT_HEADERDATA, &receiver);
  if (call.is_cancelled) {
    library.easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    library.easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &progress);
    library.easy_setopt(curl, CURLOPT_XFERINFODATA, &call);
  }
  const CURLcode code = library.easy_perform(curl);
  library.easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);  // the handle may outlive `reason`
  if (receiver.too_large) {
    return Error{ErrorCode::kLimit,
                 fmt::format("the answer is larger than the limit of {} bytes", call.max_bytes),
                 ""};
  }
  if (code == CURLE_ABORTED_BY_CALLBACK)
    return Error{ErrorCode::kUnavailable, "the transfer was cancelled", ""};
  if (code != CURLE_OK) {
    return Error{
        ErrorCode::kIo,
        fmt::format("cannot fetch: {}", *reason != '\0' ? reason : library.easy_strerror(code)),
        "check the address, and that the program listens there"};
  }
  long status = 0;
  library.easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  receiver.answer.status = static_cast<int>(status);
  return std::move(receiver.answer);
}

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

}  // namespace vesta
