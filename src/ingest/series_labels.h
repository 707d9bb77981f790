// The labels of a series, as clients name them, made fit to keep: reserved names taken out, invalid
// UTF-8 replaced, limits checked. Pure functions but for what they count.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/labels.h"
#include "base/result.h"
#include "ingest/counters.h"
#include "ingest/limits.h"
#include "profile/dictionary.h"
#include "store/engine.h"

namespace vesta {

inline constexpr std::string_view kUnknownService = "unknown_service";

// Names of families whose profiles are differences; the rest of the name is the family.
inline constexpr std::string_view kDeltaFamilyPrefix = "godeltaprof_";

using LabelPairs = std::vector<std::pair<std::string, std::string>>;

// What the client said of a series, apart from the plain labels.
struct GivenLabels {
  Labels labels;     // sorted, without reserved names
  std::string name;  // __name__
  // The values are differences already: __delta__=false, or what godeltaprof made, which its name
  // or its scope tells.
  bool is_delta = false;
};

// Labels beside a profile, in a URL or a message. kInvalidInput with the name of the label for one
// that is too long, too many, given twice with different values, or has no proper name.
Result<GivenLabels> check_given_labels(LabelPairs labels, const TenantLimits& limits,
                                       IngestCounters& counters);

// The labels of a profile's resource, with the given ones, which win. Numbers become text, values
// that are too long are cut; several values of one name are joined by commas. `service_name` is
// the label of that name, else `service.name`, else `service`, else unknown_service with the
// program's name. kInvalidInput when there are too many.
Result<Labels> series_labels(const Dictionary& dictionary, LabelSetId resource,
                             const GivenLabels& given, std::string_view service,
                             const TenantLimits& limits, IngestCounters& counters);

// Labels that the store makes itself, or that speak to the server.
bool is_reserved_label(std::string_view name);

}  // namespace vesta
