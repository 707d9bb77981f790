#include "ingest/counters.h"

namespace vesta {

std::string_view ingest_protocol_name(IngestProtocol protocol) {
  switch (protocol) {
    case IngestProtocol::kPyroscopeIngest:
      return "pyroscope_ingest";
    case IngestProtocol::kPyroscopePush:
      return "pyroscope_push";
    case IngestProtocol::kOtlp:
      return "otlp";
    case IngestProtocol::kNative:
      return "native";
    case IngestProtocol::kParca:
      return "parca";
    case IngestProtocol::kScrape:
      return "scrape";
    case IngestProtocol::kAgent:
      return "agent";
    case IngestProtocol::kCount:
      break;
  }
  return "";
}

std::string_view refusal_reason_name(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::kInvalid:
      return "invalid";
    case RefusalReason::kTooLarge:
      return "too_large";
    case RefusalReason::kTooMany:
      return "too_many";
    case RefusalReason::kUnavailable:
      return "unavailable";
    case RefusalReason::kOther:
      return "other";
    case RefusalReason::kCount:
      break;
  }
  return "";
}

RefusalReason refusal_reason_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidInput:
    case ErrorCode::kUsage:
    case ErrorCode::kUnsupported:
      return RefusalReason::kInvalid;
    case ErrorCode::kLimit:
      return RefusalReason::kTooLarge;
    case ErrorCode::kTooMany:
      return RefusalReason::kTooMany;
    case ErrorCode::kUnavailable:
    case ErrorCode::kIo:
      return RefusalReason::kUnavailable;
    default:
      return RefusalReason::kOther;
  }
}

std::string_view ingest_note_name(IngestNote note) {
  switch (note) {
    case IngestNote::kNegativeSamples:
      return "negative_samples";
    case IngestNote::kZeroSamples:
      return "zero_samples";
    case IngestNote::kInvalidUtf8:
      return "invalid_utf8";
    case IngestNote::kLabelsCut:
      return "labels_cut";
    case IngestNote::kLabelsDropped:
      return "labels_dropped";
    case IngestNote::kUnsplitSamples:
      return "unsplit_samples";
    case IngestNote::kFirstReadings:
      return "first_readings";
    case IngestNote::kStaleReadings:
      return "stale_readings";
    case IngestNote::kDeltaEvictions:
      return "delta_evictions";
    case IngestNote::kOriginalPayloads:
      return "original_payloads";
    case IngestNote::kRepairedStacks:
      return "repaired_stacks";
    case IngestNote::kRejectedProfiles:
      return "rejected_profiles";
    case IngestNote::kCount:
      break;
  }
  return "";
}

}  // namespace vesta
