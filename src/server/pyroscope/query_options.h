// What Pyroscope's query API is allowed to take, and what it needs besides an engine. Plain data.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace vesta::server {

class FileShelf;
class KeptFiles;

struct PyroscopeQueryOptions {
  // Unix time; the clock when empty.
  UnixClock clock = unix_now;
  uint64_t budget_bytes = uint64_t{256} << 20;  // of one query
  int64_t default_max_nodes = 8192;
  int64_t max_nodes_limit = 1'048'576;
  std::string version = "unknown";  // of Vesta, for /api/v1/status/buildinfo
  // Where the services besides queries keep what clients give them; without, nothing is kept. All
  // must outlive the routes.
  KeptFiles* settings = nullptr;
  KeptFiles* uploads = nullptr;     // of AdHocProfileService, which needs `files`, too
  KeptFiles* debug_info = nullptr;  // uploaded executables, by build id
  FileShelf* files = nullptr;       // opens what was uploaded
};

}  // namespace vesta::server
