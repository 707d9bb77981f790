// What clients send to Pyroscope's /ingest, whatever its format, as a batch and what is known of it
// beside. Pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "formats/jfr/reader.h"
#include "ingest/ingest_hints.h"
#include "ingest/pyroscope/app_name.h"
#include "profile/profile.h"

namespace vesta::pyroscope {

enum class PayloadFormat : uint8_t { kPprof, kJfr, kGroups, kLines, kTree, kTrie, kSpeedscope };

struct Payload {
  PayloadFormat format = PayloadFormat::kGroups;
  AppName name;
  std::string spy = "unknown";
  double sample_rate = 100;
  int64_t from_ns = 0;
  int64_t until_ns = 0;
  std::string_view profile;  // or the recording
  std::optional<std::string_view> sample_type_config;
  std::optional<std::string_view> labels;  // of a recording
  JavaNames java_names = JavaNames::kPyroscope;
};

struct ReadPayload {
  ProfileBatch batch;
  IngestHints hints;
};

// Whether the client counts as a name what follows the last dot of the application's.
bool names_type_by_suffix(PayloadFormat format);

// kUsage when the ending of the name stands for no type.
Result<ReadPayload> read_payload(const Payload& payload, const ReadOptions& options);

}  // namespace vesta::pyroscope
