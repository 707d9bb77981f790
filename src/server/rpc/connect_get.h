// Connect's GET: a call without side effects whose message stands in the URL, so that caches and
// links work. A pure function; thread-safe.
#pragma once

#include <cstdint>

#include "server/api.h"
#include "server/memory_budget.h"

namespace vesta::server {

// Whether it is a GET that has a message. One without any is not allowed, as on Pyroscope.
bool is_connect_get(const HttpRequest& request);

// Turns `?connect=v1&encoding=json&message={}` (with base64=1 and compression=gzip, where they are)
// into the POST that means the same. kInvalidInput says which parameter is wrong; kLimit and
// kTooMany come from unpacking. `lease` grows before memory is taken.
Status take_connect_get(HttpRequest& request, uint64_t max_decoded_bytes,
                        MemoryBudget::Lease& lease);

}  // namespace vesta::server
