// All the time of a thread: what it computes and what it waits for, with its state as label. A view
// of CPU samples and of waits. Immutable.
#pragma once

#include "agent/probes/probe.h"

namespace vesta::agent {

extern const ProbeView kWallView;

}  // namespace vesta::agent
