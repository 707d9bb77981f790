// All that can be set about a server. Plain data; the defaults are what an empty configuration
// means.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "formats/jfr/reader.h"
#include "ingest/limits.h"
#include "ingest/scrape/scrape_config.h"
#include "server/files/file_shelf_limits.h"
#include "server/http/http_server.h"
#include "server/source_folder.h"
#include "server/ui_options.h"
#include "store/engine.h"

namespace vesta::server {

enum class TokenPolicy : uint8_t {
  kAuto,      // required as soon as something listens beyond this machine
  kRequired,  // always
  kOff,       // never: whoever reaches the server may do everything
};

// Files that clients of Pyroscope upload to look at, which stay until newer ones take their place.
struct UploadLimits {
  uint64_t count = 100;                  // of one tenant
  uint64_t bytes = uint64_t{256} << 20;  // of all tenants; 0 = none are taken
};

struct ServerConfig {
  // Where to listen; empty = not at all.
  std::string http = "127.0.0.1:4040";
  std::string grpc = "127.0.0.1:4317";
  std::string otlp_http = "127.0.0.1:4318";
  std::string data = "vesta-data";
  std::string path_prefix;  // in front of all paths: "/vesta"; empty = none
  // Names by which browsers may reach a server that asks for no token and listens on this machine
  // alone, besides localhost and addresses.
  std::vector<std::string> hosts;
  std::string backups;  // where `vesta backup` may put copies; empty = it may not

  TlsFiles tls;
  TokenPolicy tokens = TokenPolicy::kAuto;
  bool multi_tenant = false;
  bool audit = true;

  // The time of each sample, where a client sends it; otherwise alike samples become one.
  bool keep_timestamps = false;
  JavaNames java_names = JavaNames::kPyroscope;  // of recordings sent to /ingest
  HttpLimits http_limits;
  uint64_t request_memory = uint64_t{512}
                            << 20;  // bodies of all requests at once, unpacked and read
  uint64_t answer_memory = uint64_t{256} << 20;  // answers that clients have not read yet
  TenantLimits limits;
  std::map<std::string, TenantLimits, std::less<>> tenant_limits;

  RetentionPolicy retention;  // of every tenant

  uint64_t query_memory = uint64_t{256} << 20;      // of one query
  uint64_t query_total_memory = uint64_t{1} << 30;  // of all queries at once
  int64_t query_timeout_ns = kMinute;
  uint64_t query_max_nodes = 1'048'576;

  UiOptions ui;
  std::vector<SourceFolder> sources;
  FileShelfLimits files;  // that people open to look at
  UploadLimits uploads;
  uint64_t debug_info_bytes = uint64_t{2} << 30;  // uploaded executables; 0 = none are taken

  LogLevel log_level = LogLevel::kInfo;
  LogFormat log_format = LogFormat::kText;

  ScrapeConfig scrape;
};

}  // namespace vesta::server
