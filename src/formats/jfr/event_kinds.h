// Which events of a recording become samples, and which of their fields matter. Constant tables,
// no state.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/jfr/field_program.h"

namespace vesta::jfr {

enum class EventKind : uint8_t {
  kExecutionSample,
  kNativeMethodSample,
  kCpuTimeSample,
  kWallClockSample,
  kWeightedCpuSample,  // of ddprof: each stands for `weight` samples
  kWeightedWallSample,
  kScaledAllocation,  // of ddprof: each stands for `weight` objects of its size
  kScaledLiveObject,
  kAllocationInNewTlab,
  kAllocationOutsideTlab,
  kAllocationSample,
  kLiveObject,
  kOldObject,
  kMalloc,
  kFree,
  kLock,  // a thread wants what another one holds
  kNativeLock,
  kPark,  // a thread waits because the program says so
  kMonitorWait,
  kSleep,
  kIo,
  kGarbageCollection,
  kGcPause,
  kGcConcurrent,
  kLostSamples,
  kLostBytes,
  kSetting,
  kDatadogConfig,
  kJvmInformation,
  kSystemProperty,
};

enum EventSlot : uint8_t {
  kSlotStart,
  kSlotDuration,
  kSlotThread,
  kSlotStack,
  kSlotState,
  kSlotClass,
  kSlotWeight,  // the number that the event is about: bytes, samples, nanoseconds
  kSlotName,
  kSlotCause,
  kSlotGcId,
  kSlotAddress,
  kSlotContextId,
  kSlotSpanId,
  kSlotLocalRootSpanId,
  kSlotSpanName,
  kSlotTraceId,
  kSlotSettingId,
  kSlotValue,
  kSlotVersion,
  kSlotArguments,
  kSlotJvmArguments,
  kSlotPid,
  kSlotScale = kFloatSlot,
};

struct EventSpec {
  std::string_view name;
  EventKind kind;
  std::string_view weight_field = {};
  std::string_view second_weight_field = {};  // where the first does not exist
  uint8_t level = 0;                          // of a garbage collection phase

  // "ThreadPark" of "jdk.ThreadPark"
  std::string_view short_name() const { return name.substr(name.find('.') + 1); }
};

// Null for events that Vesta does not read.
const EventSpec* find_event(std::string_view name);

// The fields to read of such an event, by name. The span lives as long as `storage`.
struct WantedFields {
  std::array<WantedField, 32> fields;
  size_t count = 0;
  std::span<const WantedField> span() const { return {fields.data(), count}; }
};
WantedFields wanted_fields(const EventSpec& spec);

}  // namespace vesta::jfr
