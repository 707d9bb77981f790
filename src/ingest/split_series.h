// Labels of samples that become labels of series, as Pyroscope has it, so that tags set in a
// program can be asked for. Labels with very many values stay with the samples, and places in
// traces become links. Pure function but for what it counts.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ingest/counters.h"
#include "ingest/limits.h"
#include "profile/dictionary_builder.h"
#include "profile/profile.h"
#include "store/selector.h"

namespace vesta {

// Whether samples keep the label, whoever sent it: threads, processors, processes.
bool is_sample_label(std::string_view name);

struct SeriesPart {
  Labels labels;  // the series' own and those of its samples
  Profile profile;
};

// The profile as one part per combination of labels; `labels` are the series' own, which win. Rows
// keep their order. `kept` are more names that stay with the samples.
std::vector<SeriesPart> split_series(Profile profile, const Labels& labels,
                                     std::span<const std::string_view> kept,
                                     const TenantLimits& limits, DictionaryBuilder& builder,
                                     IngestCounters& counters);

}  // namespace vesta
