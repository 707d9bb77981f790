// What a protocol knows of a batch beyond the batch itself. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/counters.h"
#include "ingest/series_labels.h"

namespace vesta {

enum class DeltaMode : uint8_t {
  kNever,         // the sender did it
  kIfCumulative,  // what looks like counters of Go's runtime, unless `__delta__=false`
  // The same, but a reading of a program that the store has nothing of is stored as it is: it may
  // well be the only one.
  kIfFollowing,
  kAlways,
};

struct IngestHints {
  IngestProtocol protocol = IngestProtocol::kNative;
  // Of all series, in any order; they win over what the batch says. `__name__` is the family of all
  // profiles.
  LabelPairs labels;
  std::string service;         // where no label says which
  std::string name;            // family of profiles that have none
  int64_t time_ns = 0;         // start of profiles that do not know; 0 = they end now
  bool distrust_1970 = false;  // old clients sent milliseconds: take time_ns instead
  DeltaMode delta = DeltaMode::kNever;
  // The client's name for what it sends, the same when it sends that again; empty = it has none.
  std::string id;
  uint64_t decoded_bytes = 0;                   // counts against the tenant's rate
  std::vector<std::string_view> sample_labels;  // stay with samples, whatever their number
  // Refuse single profiles and write the others; otherwise one bad profile refuses the batch.
  bool partial = false;
  bool durable = true;  // otherwise flush() before acknowledging
};

}  // namespace vesta
