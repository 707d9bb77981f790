// The native API, /api/v1/*: every question that the UI and the command line ask, as JSON, binary
// columns or files of any format. openapi.json beside this file describes it. Adds routes that
// refer to the engine, which must outlive them; handlers are thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "server/api.h"
#include "server/native/local_agent.h"
#include "server/source_folder.h"
#include "server/ui_options.h"
#include "store/engine.h"

namespace vesta::server {

class FileShelf;
}  // namespace vesta::server

namespace vesta {
class BaselineLog;
}  // namespace vesta

namespace vesta::server {

struct NativeApiOptions {
  UnixClock clock = unix_now;
  uint64_t query_bytes = uint64_t{256} << 20;
  std::chrono::milliseconds query_timeout{30'000};
  size_t default_nodes = 100'000;
  size_t max_nodes = 1'000'000;
  // Backups are directories in this one; empty = none may be made over the network.
  std::string backup_root;
  // What GET /api/v1/config tells the pages.
  std::string version = "unknown";
  UiOptions ui;
  std::vector<SourceFolder> sources;  // the only places that source code is read from
  // The agent in this process; empty, or none, where there is none.
  std::function<std::optional<LocalAgent>()> local_agent;
  uint64_t file_bytes = uint64_t{64} << 20;  // that a file to look at may have
  // What was taken in but not stored, which must outlive the routes; null = nothing is.
  const BaselineLog* baselines = nullptr;
  // Files that people have opened, which must outlive the routes; null = they cannot.
  FileShelf* files = nullptr;
};

void add_native_routes(Routes& routes, Engine& engine, const NativeApiOptions& options);

}  // namespace vesta::server
