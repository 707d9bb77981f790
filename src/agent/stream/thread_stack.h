// The stack of a thread as a record that SampleResolver takes: registers as the kernel saved them,
// and a copy of the memory above its stack pointer, read from the outside. Plain functions.
#pragma once

#include <cstdint>
#include <vector>

#include <shared/thread.h>
#include "agent/kernel/sample_ring.h"

namespace vesta::agent {

struct ThreadRecord {
  std::vector<char> bytes;  // for parse_sample()
  std::vector<StackPiece> more_stack;
};

// Copies at most `max_bytes` of the stack. A thread without a user stack gives its kernel stack
// alone. The copy is true only if the thread has not run meanwhile. `event` is what it is a sample
// of; null: of nothing, now.
ThreadRecord copy_thread(const vesta_thread& thread, size_t max_bytes,
                         const vesta_sample* event = nullptr);

}  // namespace vesta::agent
