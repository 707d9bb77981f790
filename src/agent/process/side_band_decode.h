// Decodes perf's side-band records. Pure functions over bytes that may be anything: what does not
// fit is refused, nothing outside the given bytes is touched. Thread-safe.
//
// Expected of the event that wrote them: sample_id_all with sample_type = PERF_SAMPLE_TIME, so
// every record ends with its time.
#pragma once

#include <optional>
#include <string_view>

#include "agent/process/side_band_event.h"

namespace vesta::agent {

// Takes one whole record off the front of `bytes`. Empty at the end, or when the next header makes
// no sense; then `bytes` is not empty, and nothing after it can be trusted.
std::string_view next_perf_record(std::string_view& bytes);

enum class SideBandDecode { kEvent, kIgnored, kDamaged };

// One record as next_perf_record() gives it. kIgnored: a kind that is of no interest here.
SideBandDecode decode_side_band(std::string_view record, SideBandEvent& out);

}  // namespace vesta::agent
