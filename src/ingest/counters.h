// What ingest counts, for /metrics: requests by protocol, refusals by protocol and reason, and what
// was dropped or changed on the way in. Atomics only: write and read from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace vesta {

enum class IngestProtocol : uint8_t {
  kPyroscopeIngest,
  kPyroscopePush,
  kOtlp,
  kNative,
  kParca,
  kScrape,
  kAgent,  // of this process
  kCount,
};
std::string_view ingest_protocol_name(IngestProtocol protocol);

enum class RefusalReason : uint8_t {
  kInvalid,      // bytes, labels or times that are wrong
  kTooLarge,     // over a limit of size
  kTooMany,      // over a limit of rate or series
  kUnavailable,  // the store takes nothing at the moment
  kOther,
  kCount,
};
std::string_view refusal_reason_name(RefusalReason reason);
RefusalReason refusal_reason_of(ErrorCode code);

// What happened to parts of profiles that were taken.
enum class IngestNote : uint8_t {
  kNegativeSamples,   // dropped
  kZeroSamples,       // dropped
  kInvalidUtf8,       // labels repaired
  kLabelsCut,         // values shortened
  kLabelsDropped,     // reserved names
  kUnsplitSamples,    // labels stayed with samples, for there were too many
  kFirstReadings,     // cumulative profiles with nothing to compare with: not stored
  kStaleReadings,     // cumulative profiles older than what we had: not stored
  kDeltaEvictions,    // last readings that had to make room
  kOriginalPayloads,  // OTLP: not kept
  kRepairedStacks,    // samples whose callers were inferred
  kRejectedProfiles,  // of requests that were taken otherwise
  kCount,
};
std::string_view ingest_note_name(IngestNote note);

struct IngestCounters {
  static constexpr size_t kProtocols = static_cast<size_t>(IngestProtocol::kCount);
  static constexpr size_t kReasons = static_cast<size_t>(RefusalReason::kCount);
  static constexpr size_t kNotes = static_cast<size_t>(IngestNote::kCount);

  struct PerProtocol {
    std::atomic<uint64_t> requests{0};
    std::atomic<uint64_t> bytes{0};  // of bodies
    std::atomic<uint64_t> profiles{0};
    std::atomic<uint64_t> samples{0};
    std::atomic<uint64_t> duplicates{0};
    std::array<std::atomic<uint64_t>, kReasons> refused{};
  };
  std::array<PerProtocol, kProtocols> protocols{};
  std::array<std::atomic<uint64_t>, kNotes> notes{};

  PerProtocol& of(IngestProtocol protocol) { return protocols[static_cast<size_t>(protocol)]; }
  void count_refusal(IngestProtocol protocol, ErrorCode code) {
    of(protocol).refused[static_cast<size_t>(refusal_reason_of(code))].fetch_add(
        1, std::memory_order_relaxed);
  }
  void note(IngestNote what, uint64_t count = 1) {
    if (count > 0) notes[static_cast<size_t>(what)].fetch_add(count, std::memory_order_relaxed);
  }
  uint64_t noted(IngestNote what) const { return notes[static_cast<size_t>(what)].load(); }
};

}  // namespace vesta
