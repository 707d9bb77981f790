#include "formats/jfr/event_kinds.h"

#include <array>

namespace vesta::jfr {

namespace {

using enum EventKind;

constexpr std::array kEvents{
    EventSpec{"jdk.ExecutionSample", kExecutionSample},
    EventSpec{"jdk.NativeMethodSample", kNativeMethodSample},
    EventSpec{"jdk.CPUTimeSample", kCpuTimeSample, "samplingPeriod"},
    EventSpec{"profiler.WallClockSample", kWallClockSample, "samples"},
    EventSpec{"jdk.WallClockSample", kWallClockSample, "samples"},
    // The buffer, not the object: one event stands for all allocations that fill the buffer.
    EventSpec{"jdk.ObjectAllocationInNewTLAB", kAllocationInNewTlab, "tlabSize", "allocationSize"},
    EventSpec{"jdk.ObjectAllocationOutsideTLAB", kAllocationOutsideTlab, "allocationSize"},
    EventSpec{"jdk.ObjectAllocationSample", kAllocationSample, "weight"},
    EventSpec{"profiler.LiveObject", kLiveObject, "allocationSize"},
    EventSpec{"jdk.OldObjectSample", kOldObject, "objectSize"},
    EventSpec{"datadog.ExecutionSample", kWeightedCpuSample, "weight"},
    EventSpec{"datadog.MethodSample", kWeightedWallSample, "weight"},
    EventSpec{"datadog.ObjectSample", kScaledAllocation, "size"},
    EventSpec{"datadog.HeapLiveObject", kScaledLiveObject, "size"},
    EventSpec{"datadog.ObjectAllocationInNewTLAB", kAllocationInNewTlab, "tlabSize",
              "allocationSize"},
    EventSpec{"datadog.ObjectAllocationOutsideTLAB", kAllocationOutsideTlab, "allocationSize"},
    EventSpec{"datadog.DatadogProfilerConfig", kDatadogConfig},
    EventSpec{"profiler.Malloc", kMalloc, "size"},
    EventSpec{"profiler.Free", kFree},
    EventSpec{"jdk.JavaMonitorEnter", kLock},
    EventSpec{"profiler.NativeLock", kNativeLock},
    EventSpec{"jdk.JavaMonitorWait", kMonitorWait},
    EventSpec{"jdk.ThreadPark", kPark},
    EventSpec{"jdk.ThreadSleep", kSleep},
    EventSpec{"jdk.SocketRead", kIo, "bytesRead"},
    EventSpec{"jdk.SocketWrite", kIo, "bytesWritten"},
    EventSpec{"jdk.FileRead", kIo, "bytesRead"},
    EventSpec{"jdk.FileWrite", kIo, "bytesWritten"},
    EventSpec{"jdk.FileForce", kIo},
    EventSpec{"jdk.GarbageCollection", kGarbageCollection, "sumOfPauses"},
    EventSpec{"jdk.GCPhasePause", kGcPause, {}, {}, 0},
    EventSpec{"jdk.GCPhasePauseLevel1", kGcPause, {}, {}, 1},
    EventSpec{"jdk.GCPhasePauseLevel2", kGcPause, {}, {}, 2},
    EventSpec{"jdk.GCPhasePauseLevel3", kGcPause, {}, {}, 3},
    EventSpec{"jdk.GCPhasePauseLevel4", kGcPause, {}, {}, 4},
    EventSpec{"jdk.GCPhaseConcurrent", kGcConcurrent, {}, {}, 0},
    EventSpec{"jdk.GCPhaseConcurrentLevel1", kGcConcurrent, {}, {}, 1},
    EventSpec{"jdk.GCPhaseConcurrentLevel2", kGcConcurrent, {}, {}, 2},
    EventSpec{"jdk.CPUTimeSamplesLost", kLostSamples, "lostSamples"},
    EventSpec{"jdk.DataLoss", kLostBytes, "amount"},
    EventSpec{"jdk.ActiveSetting", kSetting},
    EventSpec{"jdk.JVMInformation", kJvmInformation},
    EventSpec{"jdk.InitialSystemProperty", kSystemProperty},
};

constexpr std::array kSampleFields{
    WantedField{"startTime", kSlotStart},
    WantedField{"duration", kSlotDuration},
    WantedField{"sampledThread", kSlotThread},
    WantedField{"eventThread", kSlotThread},
    WantedField{"stackTrace", kSlotStack},
    WantedField{"state", kSlotState},
    WantedField{"objectClass", kSlotClass},
    WantedField{"monitorClass", kSlotClass},
    WantedField{"parkedClass", kSlotClass},
    WantedField{"address", kSlotAddress},
    WantedField{"contextId", kSlotContextId},
    WantedField{"spanId", kSlotSpanId},
    WantedField{"spanName", kSlotSpanName},
    WantedField{"traceId", kSlotTraceId},
    WantedField{"localRootSpanId", kSlotLocalRootSpanId},
};
constexpr std::array kGcFields{
    WantedField{"startTime", kSlotStart}, WantedField{"duration", kSlotDuration},
    WantedField{"gcId", kSlotGcId},       WantedField{"name", kSlotName},
    WantedField{"cause", kSlotCause},
};
constexpr std::array kSettingFields{
    WantedField{"id", kSlotSettingId},
    WantedField{"name", kSlotName},
    WantedField{"value", kSlotValue},
};
constexpr std::array kJvmFields{
    WantedField{"jvmName", kSlotName},
    WantedField{"jvmVersion", kSlotVersion},
    WantedField{"javaArguments", kSlotArguments},
    WantedField{"jvmArguments", kSlotJvmArguments},
    WantedField{"pid", kSlotPid},
};

constexpr std::array kConfigFields{
    WantedField{"cpuInterval", kSlotWeight},
    WantedField{"wallInterval", kSlotDuration},
};
constexpr std::array kPropertyFields{
    WantedField{"key", kSlotName},
    WantedField{"value", kSlotValue},
};

}  // namespace

const EventSpec* find_event(std::string_view name) {
  for (const EventSpec& spec : kEvents)
    if (spec.name == name) return &spec;
  return nullptr;
}

WantedFields wanted_fields(const EventSpec& spec) {
  WantedFields wanted;
  const auto add = [&](std::span<const WantedField> fields) {
    for (const WantedField& field : fields) wanted.fields[wanted.count++] = field;
  };
  switch (spec.kind) {
    case kGarbageCollection:
    case kGcPause:
    case kGcConcurrent:
      add(kGcFields);
      break;
    case kSetting:
      add(kSettingFields);
      break;
    case kJvmInformation:
      add(kJvmFields);
      break;
    case kSystemProperty:
      add(kPropertyFields);
      break;
    case kDatadogConfig:
      add(kConfigFields);
      break;
    case kScaledAllocation:
    case kScaledLiveObject:
      add(kSampleFields);
      wanted.fields[wanted.count++] = {"weight", kSlotScale};
      break;
    default:
      add(kSampleFields);
      break;
  }
  for (const std::string_view name : {spec.weight_field, spec.second_weight_field})
    if (!name.empty()) wanted.fields[wanted.count++] = {name, kSlotWeight};
  return wanted;
}

}  // namespace vesta::jfr
