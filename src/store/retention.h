// What a policy keeps, for all engines alike. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "profile/profile.h"
#include "store/engine.h"

namespace vesta {

// From when on profiles of the service are kept.
inline int64_t kept_from(const RetentionPolicy& policy, std::string_view service, int64_t now_ns) {
  int64_t keep_ns = 0;
  for (const RetentionRule& rule : policy.rules) {
    if (rule.service == service) {
      keep_ns = rule.keep_ns;
      break;
    }
    if (rule.service.empty()) keep_ns = rule.keep_ns;
  }
  return keep_ns <= 0 ? INT64_MIN : saturating_subtract(now_ns, keep_ns);
}

}  // namespace vesta
