// How much a reader may take in, and what it should keep. Every reader is given one of these; input
// beyond a limit is answered with an error that names the limit, or cut and counted as a loss where
// that is said below. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>

namespace vesta {

// Which field numbers an OTLP message uses; kAuto goes by its shape.
enum class OtlpLayout : uint8_t { kAuto, kV1_8, kV1_9, kV1_10 };

struct ReadOptions {
  uint64_t max_input_bytes = 2ull << 30;    // of the file or response as it comes; 2 GiB
  uint64_t max_decoded_bytes = 2ull << 30;  // after decompression; 2 GiB
  size_t max_samples = 100'000'000;
  size_t max_stack_depth = 4096;  // deeper stacks are cut at the root end: loss "stack truncated"
  size_t max_string_bytes = 64 * 1024;  // of one name; longer ones are cut: loss "name truncated"
  size_t max_labels_per_sample = 256;

  // Differences of profiles have negative values; anywhere else they are a sign of damage.
  bool allow_negative = false;
  // Keep the time of each event where the format has it. Without, events that are otherwise alike
  // become one sample.
  bool keep_timestamps = false;

  // For OTLP protobuf whose release cannot be told from its shape.
  OtlpLayout otlp_layout = OtlpLayout::kAuto;
};

// Names of losses that several readers count, so that they add up under one reason.
inline constexpr const char* kLossStackTruncated = "stack truncated";
inline constexpr const char* kLossNameTruncated = "name truncated";
inline constexpr const char* kLossInvalidUtf8 = "invalid UTF-8 replaced";

}  // namespace vesta
