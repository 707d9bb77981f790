// Posts to one exporter's endpoint: its headers, its TLS, its time limit, over a connection that is
// kept. One thread, but for cancel().
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/config/agent_config.h"
#include "agent/export/codecs/payload.h"
#include "agent/export/queue/export_clock.h"
#include "net/http_client.h"

namespace vesta::agent {

class HttpPost {
 public:
  HttpPost(const ExporterConfig& config, std::string_view version, const ExportClock& clock);

  using Headers = std::vector<std::pair<std::string, std::string>>;
  // What the status means; `answer` is filled in when it is kSent.
  SendOutcome post(const std::string& url, std::string body, const Headers& headers,
                   HttpAnswer& answer);
  void cancel() { is_cancelled_ = true; }

 private:
  HttpCall call_;  // what all have in common
  const ExportClock& clock_;
  HttpConnection connection_;
  std::atomic<bool> is_cancelled_ = false;
};

// The URL with `path` behind it, unless it ends with that already. A query stays where it is.
std::string with_path(std::string_view url, std::string_view path);
// Whether there is nothing behind the host but perhaps a slash.
bool has_no_path(std::string_view url);

}  // namespace vesta::agent
