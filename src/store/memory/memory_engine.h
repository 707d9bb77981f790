// The simplest engine there can be: every profile as it was written, in maps, under one mutex; each
// answer is added up from scratch. It says what the others must answer, and serves tests. Nothing
// survives the process; backup() is kUnsupported. Thread-safe, one call at a time.
#pragma once

#include <memory>

#include "store/engine.h"

namespace vesta {

std::unique_ptr<Engine> make_memory_engine();

}  // namespace vesta
