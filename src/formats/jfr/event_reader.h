// Turns the events of chunks into samples of families. Holds what spans chunks: the families, label
// sets, settings, phases and native allocations. Refers to the builder and the options. Not
// thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "formats/jfr/constants.h"
#include "formats/jfr/event_kinds.h"
#include "formats/jfr/families.h"
#include "formats/jfr/gc_phases.h"
#include "formats/jfr/jvm_information.h"
#include "formats/jfr/labels.h"
#include "formats/jfr/native_heap.h"
#include "formats/jfr/settings.h"
#include "formats/jfr/stacks.h"

namespace vesta::jfr {

// How to read the events of one type in one chunk.
struct EventPlan {
  const EventSpec* spec = nullptr;
  FieldProgram program;
  StringId label;  // short name of the event
};

class EventReader {
 public:
  EventReader(DictionaryBuilder& builder, const ReadOptions& options)
      : builder_(builder), options_(options), label_sets_(builder, options.max_labels_per_sample) {}

  // Events that others depend on, wherever in the chunk they are: settings, and who the JVM is.
  void read_setup(const EventPlan& plan, const Record& record, Constants& constants);
  Status read_sample(const EventPlan& plan, const Record& record, Constants& constants,
                     StackResolver& stacks);

  Settings& settings() { return settings_; }
  const JvmInformation& jvm() const { return jvm_; }
  const std::string& perf_event() const { return perf_event_; }
  Families& families() { return families_; }
  uint64_t lost_bytes() const { return lost_bytes_; }
  // End of the latest event, for chunks that do not know their duration yet.
  int64_t last_event_ns() const { return last_event_ns_; }

  // Hands over what could only be known after the last event.
  void finish();

 private:
  struct Event {
    const EventPlan& plan;
    const Record& record;
    Constants& constants;
    ResolvedStack stack;
    SampleLabels labels;
    LinkId link;
    int64_t start_ns = 0;
    int64_t duration_ns = 0;
    int64_t weight = 0;
  };

  Status read_common(Event& event, StackResolver& stacks);
  Status read_gc(Event& event);
  Status read_execution_sample(Event& event);
  LinkId read_link(Event& event);
  Status add(Family family, const Event& event, std::span<const int64_t> values);
  Status add_duration(Family family, Event& event);
  Status read_scaled_object(Family family, const Event& event);
  int64_t time_value(const EventPlan& plan, const Constants& constants, EventSlot slot,
                     TimeUnit fallback) const;
  int64_t time_value(const Event& event, EventSlot slot, TimeUnit fallback) const {
    return time_value(event.plan, event.constants, slot, fallback);
  }
  Status check_limits(const Event& event) const;

  DictionaryBuilder& builder_;
  const ReadOptions& options_;
  Families families_;
  LabelSets label_sets_;
  Settings settings_;
  GcPhases gc_phases_;
  NativeHeap native_heap_;
  JvmInformation jvm_;
  std::string perf_event_;
  Slots slots_;
  uint64_t event_count_ = 0;
  uint64_t lost_bytes_ = 0;
  int64_t last_event_ns_ = 0;
};

}  // namespace vesta::jfr
