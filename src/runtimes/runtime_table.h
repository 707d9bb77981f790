// The runtimes that there are. Immutable; any thread.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtimes/runtime.h"

namespace vesta {

std::span<const RuntimeKind> runtime_kinds();
// Null when there is none with that number.
const RuntimeKind* find_runtime(uint8_t number);
// The one that owns the code of a file; null for native code.
const RuntimeKind* runtime_of(const ModuleSymbols& symbols);

struct UnsupportedRuntime {
  const RuntimeKind* kind = nullptr;  // null: there is none
  std::string_view why;
};
// The runtime that a file is recognised as, but whose frames in it cannot be named.
UnsupportedRuntime unsupported_runtime(const ModuleSymbols& symbols);

// All runtimes that may be at work in one process, attached when they are first asked. One owner
// thread.
class ProcessRuntimes {
 public:
  explicit ProcessRuntimes(const RuntimeProcess& process) : process_(process) {}

  // As RuntimeInstance has them; the first that knows answers.
  bool name_code(uint64_t address, std::vector<SourceFrame>& frames);
  bool name_frame(uint8_t runtime, const RuntimeFrame& frame, std::vector<SourceFrame>& frames);

 private:
  RuntimeInstance* instance(const RuntimeKind& kind);

  RuntimeProcess process_;
  std::vector<std::unique_ptr<RuntimeInstance>> instances_;  // as the table; null: not asked yet
};

}  // namespace vesta
