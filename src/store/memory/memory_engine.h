// The simplest engine there can be: every profile as it was written, in maps, under one mutex; each
// answer is added up from scratch. It says what the others must answer, serves tests, and holds
// files that somebody opened. Nothing survives the process; backup() is kUnsupported. Thread-safe,
// one call at a time.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "store/engine.h"

namespace vesta {

// What a tenant has, without its samples.
struct MemoryContents {
  std::map<ProfileType, uint64_t> samples;  // that samples() of the type would answer with
  TimeRange range;                          // holds all profiles and all samples with a time
  std::vector<std::string> labels;          // names, of series and of samples, in order
};

class MemoryEngine : public Engine {
 public:
  virtual MemoryContents contents(std::string_view tenant) = 0;
};

// `stop` is asked from time to time during a write; once it says true, the write ends with
// kUnavailable, and the engine is good for nothing but its destruction.
std::unique_ptr<MemoryEngine> make_memory_engine(std::function<bool()> stop = {});

}  // namespace vesta
