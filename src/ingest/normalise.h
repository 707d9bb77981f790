// One profile made uniform: what its type is called, when it was taken, which rows count, whose it
// is. The order is fixed: header, (delta), rows. Works in place; not thread-safe.
#pragma once

#include <string>

#include "base/result.h"
#include "ingest/counters.h"
#include "ingest/ingest_hints.h"
#include "ingest/limits.h"
#include "profile/profile.h"

namespace vesta {

struct HeaderRules {
  const TenantLimits& limits;
  const IngestHints& hints;
  std::string_view family;  // of all profiles; empty = their own
  int64_t now_ns = 0;
};

// Name, types, period, times. kInvalidInput names the field: a profile without a type, a time
// outside of what the limits allow.
Status normalise_header(Dictionary& dictionary, Profile& profile, const HeaderRules& rules);

// Drops rows with a negative value, unless those are kept, or without any, and counts both.
void drop_empty_rows(Profile& profile, bool keep_negative, IngestCounters& counters);

// "2023-11-14T22:13:20Z"
std::string time_text(int64_t time_ns);

}  // namespace vesta
