// How many files people may have open at once, and for how long. Plain data.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace vesta::server {

struct FileShelfLimits {
  uint64_t memory = uint64_t{512} << 20;         // of all tenants; 0 = no files are opened
  uint64_t tenant_memory = uint64_t{256} << 20;  // of one
  uint64_t count = 50;                           // files of one tenant
  int64_t keep_ns = kHour;                       // after the last use
};

}  // namespace vesta::server
