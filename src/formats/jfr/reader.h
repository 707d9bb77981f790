// Reads JDK Flight Recorder files, as written by JDKs and by async-profiler: one profile per family
// of events (CPU, wall clock, allocation, locks, garbage collection …). Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/profile.h"

namespace vesta {

// By the magic bytes of the first chunk. The bytes must be decompressed.
bool looks_like_jfr(std::string_view bytes);

// How methods are called: "java.lang.Thread.run", "App$$Lambda.run", or as Pyroscope does,
// "java/lang/Thread.run", "App$$Lambda_.run"; frames of libraries begin with the library there. Its
// profiles also have a resource label `jfr_event`: what async-profiler was told to sample.
enum class JavaNames : uint8_t { kDots, kPyroscope };

// A recording without any sample gives a batch without profiles.
Result<ProfileBatch> read_jfr(std::string_view bytes, const ReadOptions& options);
Result<ProfileBatch> read_jfr(std::string_view bytes, const ReadOptions& options, JavaNames names);

}  // namespace vesta
