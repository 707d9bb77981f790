// The engines that a store can run on, one row each: how it is opened, how a backup of it comes
// back, what it can. Whoever opens a store asks here, and no other place names an engine.
// Constants.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "store/engine.h"

namespace vesta {

struct EngineSettings {
  std::string directory;                       // empty for an engine that keeps nothing
  std::function<void(std::string_view)> warn;  // what an operator should know, at any time
};

struct EngineKind {
  std::string_view name;
  bool is_durable = false;  // has its profiles after a restart
  Result<std::unique_ptr<Engine>> (*open)(const EngineSettings& settings) = nullptr;
  // Puts the latest backup in a folder that Engine::backup() wrote into a new or empty one, which
  // can then be opened. Null for an engine without backups.
  Status (*restore)(const std::string& backup, const std::string& directory) = nullptr;
};

std::span<const EngineKind> engine_kinds();
// What servers run on: the first durable one.
const EngineKind& server_engine();
// What lasts as long as the process.
const EngineKind& temporary_engine();

}  // namespace vesta
