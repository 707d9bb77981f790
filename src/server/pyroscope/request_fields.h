// Fields that requests of Pyroscope's API share: times, selectors, ids, budgets. Pure functions;
// what cannot be meant is kUsage, which clients see as invalid_argument.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "server/api.h"
#include "server/pyroscope/query_options.h"
#include "store/engine.h"

namespace vesta::server {

QueryBudget budget_of(const PyroscopeQueryOptions& options, const Caller& caller);

// Saturates at the ends of what nanoseconds in 64 bits can say.
int64_t nanos_from_millis(int64_t millis);

// Both ends are included, to the millisecond. kUsage when one is missing or they are backwards.
Result<TimeRange> range_from_millis(int64_t start_ms, int64_t end_ms);

// "{}" selects all; "" is an error. A type before the brace is matched as one; another word is the
// name of the profile.
Result<Selector> read_selector(std::string_view text);
// All of them must hold.
template <class Strings>
Result<Selector> read_matchers(const Strings& matchers) {
  Selector all;
  for (const auto& text : matchers) {
    VESTA_ASSIGN(Selector part, read_selector(text));
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

Result<ProfileType> read_type(std::string_view id);

// How many nodes to draw; the default for 0 or nothing.
Result<size_t> read_max_nodes(std::optional<int64_t> max_nodes,
                              const PyroscopeQueryOptions& options);

Result<std::array<uint8_t, 8>> read_span_id(std::string_view text);
Result<std::array<uint8_t, 16>> read_trace_id(std::string_view text);
// A UUID with or without dashes, as engines have it: 32 hex digits.
Result<std::string> read_profile_id(std::string_view text);
// "7c9e6679-7425-40de-944b-e07fc1f90ae7"
std::string to_uuid(std::string_view hex);

// Whether a client asked for names of labels that are not plain words, with
// `allow-utf8-labelnames=true` in its Accept header. kUsage when that cannot be read.
Result<bool> takes_any_label_name(std::string_view accept);
// Letters, digits and underscores, no digit first.
bool is_plain_label_name(std::string_view name);

}  // namespace vesta::server
