#include "formats/jfr/event_reader.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/hex.h"
#include "formats/common/parse_error.h"
#include "formats/jfr/metadata.h"

namespace vesta::jfr {

namespace {

constexpr std::string_view kLossStackMissing = "stack missing from the recording";
constexpr std::string_view kLossSamplesLost = "samples lost by the recorder";

int64_t saturating_multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max()
                            : std::numeric_limits<int64_t>::min();
}

}  // namespace

int64_t EventReader::time_value(const EventPlan& plan, const Constants& constants, EventSlot slot,
                                TimeUnit fallback) const {
  const SlotField& field = plan.program.field(slot);
  const int64_t value = slots_.numbers[slot];
  switch (field.unit == TimeUnit::kNone ? fallback : field.unit) {
    case TimeUnit::kTicks:
      return constants.chunk().ticks_to_ns(value);
    case TimeUnit::kMicroseconds:
      return saturating_multiply(value, 1'000);
    case TimeUnit::kMilliseconds:
      return saturating_multiply(value, 1'000'000);
    case TimeUnit::kSeconds:
      return saturating_multiply(value, 1'000'000'000);
    case TimeUnit::kNanoseconds:
    case TimeUnit::kNone:
      break;
  }
  return value;
}

void EventReader::read_setup(const EventPlan& plan, const Record& record, Constants& constants) {
  Cursor cursor = constants.chunk().cursor(record.payload, record.end);
  plan.program.run(cursor, slots_);
  const auto text = [&](EventSlot slot) {
    return constants.text(plan.program.field(slot), slot, slots_);
  };
  if (plan.spec->kind == EventKind::kSetting) {
    const uint32_t about = constants.types().by_id(slots_.numbers[kSlotSettingId]);
    if (about == kNoType) return;
    settings_.apply(constants.types()[about].name, text(kSlotName), text(kSlotValue));
  } else if (plan.spec->kind == EventKind::kDatadogConfig) {
    settings_.set_datadog_intervals(
        time_value(plan, constants, kSlotWeight, TimeUnit::kMilliseconds),
        time_value(plan, constants, kSlotDuration, TimeUnit::kMilliseconds));
  } else if (plan.spec->kind == EventKind::kSystemProperty) {
    jvm_.add_property(text(kSlotName), text(kSlotValue));
  } else if (jvm_.name.empty()) {
    jvm_.name = text(kSlotName);
    jvm_.version = version_of(text(kSlotVersion));
    jvm_.pid = slots_.numbers[kSlotPid];
    jvm_.add_command(text(kSlotArguments));
    jvm_.add_jvm_arguments(text(kSlotJvmArguments));
  }
}

Status EventReader::check_limits(const Event& event) const {
  if (event.constants.budget().exhausted)
    return limit_error("jfr", "the text of all names", options_.max_decoded_bytes);
  if (event_count_ > options_.max_samples && families_.row_count() > options_.max_samples)
    return limit_error("jfr", "the number of samples", options_.max_samples);
  return {};
}

LinkId EventReader::read_link(Event& event) {
  const FieldProgram& program = event.plan.program;
  Link link;
  if (!parse_hex(event.constants.text(program.field(kSlotTraceId), kSlotTraceId, slots_),
                 link.trace_id)) {
    return {};
  }
  if (program.field(kSlotSpanId).primitive == Primitive::kLong) {
    for (size_t i = 0; i < link.span_id.size(); ++i)
      link.span_id[i] = static_cast<uint8_t>(event.labels.span_id >> (56 - 8 * i));
  } else {
    parse_hex(event.constants.text(program.field(kSlotSpanId), kSlotSpanId, slots_), link.span_id);
  }
  return builder_.link(link);
}

Status EventReader::read_common(Event& event, StackResolver& stacks) {
  const FieldProgram& program = event.plan.program;
  Constants& constants = event.constants;
  const Chunk& chunk = constants.chunk();
  Cursor cursor = chunk.cursor(event.record.payload, event.record.end);
  program.run(cursor, slots_);
  if (cursor.failed()) {
    return parse_error("jfr", chunk.file_offset + event.record.offset,
                       fmt::format("{}: its fields run past its end", event.plan.spec->name),
                       "the file is damaged");
  }
  const SlotField& start = program.field(kSlotStart);
  if (start.unit == TimeUnit::kTicks || start.unit == TimeUnit::kNone) {
    event.start_ns = start.present ? chunk.unix_ns(slots_.numbers[kSlotStart]) : 0;
  } else {
    event.start_ns = time_value(event, kSlotStart, TimeUnit::kNanoseconds);
  }
  event.duration_ns = time_value(event, kSlotDuration, TimeUnit::kTicks);
  event.weight = slots_.numbers[kSlotWeight];
  if (chunk.unfinished)
    last_event_ns_ = std::max(last_event_ns_, saturating_add(event.start_ns, event.duration_ns));
  if (!options_.allow_negative && (event.duration_ns < 0 || event.weight < 0)) {
    return parse_error(
        "jfr", chunk.file_offset + event.record.offset,
        fmt::format("{}: {} is negative", event.plan.spec->name,
                    event.duration_ns < 0 ? "duration" : event.plan.spec->weight_field),
        "the file is damaged");
  }
  event.stack = stacks.resolve(slots_.numbers[kSlotStack]);
  event.labels.thread = constants.label(program.field(kSlotThread), kSlotThread, slots_);
  event.labels.class_name = constants.label(program.field(kSlotClass), kSlotClass, slots_);
  event.labels.context_id = slots_.numbers[kSlotContextId];
  if (program.field(kSlotSpanId).primitive == Primitive::kLong)
    event.labels.span_id = slots_.numbers[kSlotSpanId];
  if (program.field(kSlotLocalRootSpanId).primitive == Primitive::kLong)
    event.labels.local_root_span_id = slots_.numbers[kSlotLocalRootSpanId];
  const SlotField& span_name = program.field(kSlotSpanName);
  if (span_name.constant_pool || span_name.primitive == Primitive::kString) {
    event.labels.span_name = constants.label(span_name, kSlotSpanName, slots_);
  } else {
    event.labels.span_name_id = slots_.numbers[kSlotSpanName];
  }
  if (program.field(kSlotTraceId).present) event.link = read_link(event);
  return {};
}

Status EventReader::add(Family family, const Event& event, std::span<const int64_t> values) {
  if (event.stack.truncated) families_.add_loss(family, kLossStackTruncated, 1);
  if (event.stack.missing) families_.add_loss(family, kLossStackMissing, 1);
  families_.add(family, event.stack.stack, values, label_sets_.get(event.labels), event.link,
                options_.keep_timestamps ? event.start_ns : 0);
  return {};
}

Status EventReader::add_duration(Family family, Event& event) {
  event.labels.event = event.plan.label;
  const std::array<int64_t, 2> values{1, event.duration_ns};
  return add(family, event, values);
}

// A JDK samples threads that run Java code; async-profiler samples CPU time, wall-clock time (where
// sleeping threads are samples too) or anything that the kernel counts.
Status EventReader::read_execution_sample(Event& event) {
  const StringId state =
      event.constants.label(event.plan.program.field(kSlotState), kSlotState, slots_);
  const bool sleeps = builder_.dictionary().string(state) == "STATE_SLEEPING";
  const bool is_batch = event.plan.spec->kind == EventKind::kWallClockSample;
  const bool is_wall = is_batch || settings_.is_wall() || sleeps;
  const int64_t count =
      is_batch && event.plan.program.field(kSlotWeight).present ? event.weight : 1;
  if (is_wall) {
    const int64_t interval = settings_.wall_interval_ns();
    const int64_t value = saturating_multiply(count, interval);
    families_.set_period(Family::kWall, interval);
    Event wall = event;
    wall.labels.state = state;
    VESTA_TRY(add(Family::kWall, wall, {&value, 1}));
    // Beside another event, wall-clock samples say nothing about CPU time.
    if (sleeps || (is_batch && !settings_.is_wall())) return {};
  }
  const int64_t interval = is_wall ? settings_.wall_interval_ns() : settings_.execution_interval();
  const Family family = settings_.samples_are_time() ? Family::kExecution : Family::kPerfEvent;
  if (family == Family::kPerfEvent && perf_event_.empty()) perf_event_ = settings_.event();
  families_.set_period(family, interval);
  const std::array<int64_t, 2> values{saturating_multiply(count, interval), count};
  return add(family, event, values);
}

// ddprof keeps few of the objects, the more likely the larger they are; the weight says how many of
// this size each stands for.
Status EventReader::read_scaled_object(Family family, const Event& event) {
  float scale = 1;
  if (event.plan.program.field(kSlotScale).present) {
    const auto given = std::bit_cast<float>(static_cast<uint32_t>(slots_.numbers[kSlotScale]));
    if (given > 1) scale = given;  // not a number is not greater
  }
  const auto scaled = [&](int64_t value) {
    const double product = std::round(static_cast<double>(value) * static_cast<double>(scale));
    return product < 9.2e18 ? static_cast<int64_t>(product) : std::numeric_limits<int64_t>::max();
  };
  const std::array<int64_t, 2> values{scaled(1), scaled(event.weight)};
  return add(family, event, values);
}

Status EventReader::read_gc(Event& event) {
  const FieldProgram& program = event.plan.program;
  const StringId name = event.constants.label(program.field(kSlotName), kSlotName, slots_);
  const int64_t gc_id = slots_.numbers[kSlotGcId];
  if (event.plan.spec->kind != EventKind::kGarbageCollection) {
    gc_phases_.add_phase({gc_id, event.start_ns, event.duration_ns, name, event.plan.spec->level,
                          event.plan.spec->kind == EventKind::kGcConcurrent});
    return {};
  }
  const StringId cause = event.constants.label(program.field(kSlotCause), kSlotCause, slots_);
  const Dictionary& dictionary = builder_.dictionary();
  std::string title(dictionary.string(name));
  if (cause) title += fmt::format(" ({})", dictionary.string(cause));
  const LocationId frame = builder_.frame(title.empty() ? "GarbageCollection" : title);
  gc_phases_.name_collection(gc_id, frame);
  event.stack.stack = builder_.stack({&frame, 1});
  const std::array<int64_t, 3> values{1, event.duration_ns,
                                      time_value(event, kSlotWeight, TimeUnit::kTicks)};
  return add(Family::kGc, event, values);
}

Status EventReader::read_sample(const EventPlan& plan, const Record& record, Constants& constants,
                                StackResolver& stacks) {
  Event event{plan, record, constants, {}, {}, {}};
  VESTA_TRY(read_common(event, stacks));
  ++event_count_;
  VESTA_TRY(check_limits(event));
  const std::array<int64_t, 2> one_and_weight{1, event.weight};
  switch (plan.spec->kind) {
    case EventKind::kExecutionSample:
    case EventKind::kWallClockSample:
      return read_execution_sample(event);
    case EventKind::kNativeMethodSample: {
      const int64_t interval = settings_.native_interval_ns();
      families_.set_period(Family::kNative, interval);
      const std::array<int64_t, 2> values{interval, 1};
      return add(Family::kNative, event, values);
    }
    case EventKind::kCpuTimeSample: {
      int64_t period = time_value(event, kSlotWeight, TimeUnit::kNanoseconds);
      if (period == 0) period = settings_.cpu_time_interval_ns();
      families_.set_period(Family::kCpu, period);
      const std::array<int64_t, 2> values{period, 1};
      return add(Family::kCpu, event, values);
    }
    case EventKind::kWeightedCpuSample: {
      const int64_t count = plan.program.field(kSlotWeight).present ? event.weight : 1;
      const int64_t interval = settings_.datadog_cpu_interval_ns();
      families_.set_period(Family::kCpu, interval);
      const std::array<int64_t, 2> values{saturating_multiply(count, interval), count};
      return add(Family::kCpu, event, values);
    }
    case EventKind::kWeightedWallSample: {
      const int64_t count = plan.program.field(kSlotWeight).present ? event.weight : 1;
      const int64_t interval = settings_.datadog_wall_interval_ns();
      families_.set_period(Family::kWall, interval);
      event.labels.state = constants.label(plan.program.field(kSlotState), kSlotState, slots_);
      const int64_t value = saturating_multiply(count, interval);
      return add(Family::kWall, event, {&value, 1});
    }
    case EventKind::kScaledAllocation:
      return read_scaled_object(Family::kAllocationSample, event);
    case EventKind::kScaledLiveObject:
      return read_scaled_object(Family::kLive, event);
    case EventKind::kAllocationInNewTlab:
      return add(Family::kAllocationInNewTlab, event, one_and_weight);
    case EventKind::kAllocationOutsideTlab:
      return add(Family::kAllocationOutsideTlab, event, one_and_weight);
    case EventKind::kAllocationSample:
      return add(Family::kAllocationSample, event, one_and_weight);
    case EventKind::kLiveObject:
      return add(Family::kLive, event, one_and_weight);
    case EventKind::kOldObject:
      return add(Family::kOldObjects, event, one_and_weight);
    case EventKind::kMalloc:
      native_heap_.add_malloc(static_cast<uint64_t>(slots_.numbers[kSlotAddress]), event.start_ns,
                              event.weight, event.stack.stack, label_sets_.get(event.labels));
      return add(Family::kMalloc, event, one_and_weight);
    case EventKind::kFree:
      native_heap_.add_free(static_cast<uint64_t>(slots_.numbers[kSlotAddress]), event.start_ns);
      return {};
    case EventKind::kLock:
      return add_duration(Family::kMutex, event);
    case EventKind::kNativeLock:
      return add_duration(Family::kNativeLock, event);
    case EventKind::kPark:
      return add_duration(Family::kBlock, event);
    case EventKind::kMonitorWait:
      return add_duration(Family::kMonitorWait, event);
    case EventKind::kSleep:
      return add_duration(Family::kThreadSleep, event);
    case EventKind::kIo: {
      event.labels.event = plan.label;
      const std::array<int64_t, 3> values{1, event.duration_ns, event.weight};
      return add(Family::kIo, event, values);
    }
    case EventKind::kGarbageCollection:
    case EventKind::kGcPause:
    case EventKind::kGcConcurrent:
      return read_gc(event);
    case EventKind::kLostSamples:
      families_.add_loss(Family::kCpu, kLossSamplesLost, static_cast<uint64_t>(event.weight));
      return {};
    case EventKind::kLostBytes:
      lost_bytes_ += static_cast<uint64_t>(event.weight);
      return {};
    case EventKind::kSetting:
    case EventKind::kDatadogConfig:
    case EventKind::kJvmInformation:
    case EventKind::kSystemProperty:
      break;
  }
  return {};
}

void EventReader::finish() {
  native_heap_.finish(families_, options_.keep_timestamps);
  gc_phases_.finish(builder_, families_, options_.keep_timestamps);
}

}  // namespace vesta::jfr
