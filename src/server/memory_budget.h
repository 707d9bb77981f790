// The budget of requests; see base/memory_budget.h.
#pragma once

#include "base/memory_budget.h"

namespace vesta::server {
using vesta::MemoryBudget;
}  // namespace vesta::server
