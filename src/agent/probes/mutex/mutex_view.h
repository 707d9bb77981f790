// Contention of locks: views of the waits for mutexes and reader-writer locks, by who waits and by who
// released the lock; and of all waits, by who ended them. Immutable.
#pragma once

#include "agent/probes/probe.h"

namespace vesta::agent {

extern const ProbeView kMutexView;
extern const ProbeView kMutexHolderView;
extern const ProbeView kOffCpuWakerView;

}  // namespace vesta::agent
