// What a language's runtime brings to profiles: how its code is recognised, and names for its
// frames. A runtime is one folder here and one line in runtime_table.cc. What is known of a file is
// asked of the kind; what only the process knows, of an instance. Kinds are immutable; an instance
// has one owner thread, which may wait for files.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "profile/dictionary.h"
#include "symbols/module_symbols.h"
#include "symbols/source_frame.h"

namespace vesta {

// A process, as far as its runtimes need it.
struct RuntimeProcess {
  uint32_t pid = 0;  // as it knows itself, in its own namespace
  uint32_t uid = 0;
  int root = -1;  // its root folder; stays open as long as the instance lives
};

// A frame that is not an address: the kernel side tagged it with the runtime's number, and what
// follows is the runtime's own (a method and a place in it, say). See VESTA_FRAME_RUNTIME.
struct RuntimeFrame {
  uint32_t detail = 0;
  uint64_t payload = 0;
  friend bool operator==(const RuntimeFrame&, const RuntimeFrame&) = default;
};

// A runtime at work in one process. The process may end or lie at any time: what cannot be read has
// no name.
class RuntimeInstance {
 public:
  RuntimeInstance() = default;
  virtual ~RuntimeInstance() = default;
  RuntimeInstance(const RuntimeInstance&) = delete;
  RuntimeInstance& operator=(const RuntimeInstance&) = delete;

  // Both append frames, innermost first; false when nothing is known. Views live until the next
  // call. Code in memory that no file holds:
  virtual bool name_code(uint64_t /*address*/, std::vector<SourceFrame>& /*frames*/) {
    return false;
  }
  virtual bool name_frame(const RuntimeFrame& /*frame*/, std::vector<SourceFrame>& /*frames*/) {
    return false;
  }
};

// A line of the table of runtimes.
struct RuntimeKind {
  uint8_t number = 0;  // in records; never changes its meaning
  std::string_view name;
  FrameKind frames = FrameKind::kNative;  // what its frames are in profiles
  // Code of this file is the runtime's. Null: no file tells.
  bool (*owns)(const ModuleSymbols& symbols) = nullptr;
  // Why the runtime's frames in code of this file have no names, because of its version or what it
  // was built with; empty when they have, and when the file is not the runtime's. Null: never.
  std::string_view (*unsupported)(const ModuleSymbols& symbols) = nullptr;
  // Null: files have all names.
  std::unique_ptr<RuntimeInstance> (*attach)(const RuntimeProcess& process) = nullptr;
};

}  // namespace vesta
