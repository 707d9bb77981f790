// Adds samples up into windows: one profile for each process, all of a window in one batch. Refers
// to what names come from, which must outlive it. One owner thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "agent/recording/cpu_profile.h"
#include "agent/recording/stack_builder.h"
#include "agent/windows/frame_filter.h"
#include "agent/windows/short_lived.h"
#include "base/table_hash.h"
#include "profile/profile.h"
#include "profile/sample_table.h"

namespace vesta::agent {

// Who was profiled, in OpenTelemetry's names: "service.name", "process.pid".
using Resource = std::vector<std::pair<std::string, std::string>>;
inline constexpr std::string_view kPidAttribute = "process.pid";
inline constexpr std::string_view kServiceAttribute = "service.name";

// Who a process is. Named after its program alone when there is nothing better: such a process is
// a short command when it is short-lived.
struct ProcessResource {
  Resource attributes;
  bool is_plain_program = false;
};

// Nothing for a process that is no target.
using ResourceOf = std::function<std::optional<ProcessResource>(const SampledProcess&)>;

struct WindowFilters {
  FrameFilter hidden;        // functions that are folded into their callers
  uint64_t min_samples = 1;  // of a stack; fewer are added up under one frame that says so
};

// How much of one program's samples is whole and has names, since the start.
struct BinaryCoverage {
  uint64_t samples = 0;
  uint64_t whole_stacks = 0;
  uint64_t frames = 0;
  uint64_t named_frames = 0;
  uint64_t decoded_frames = 0;  // see ResolvedSample
  uint64_t guessed_frames = 0;
};

struct WindowTimes {
  uint64_t start_ns = 0;  // CLOCK_MONOTONIC
  int64_t start_unix_ns = 0;
  int64_t duration_ns = 0;
  uint64_t period_ns = 0;  // in force at its end
};

class WindowBuilder {
 public:
  // `host` is what is known without a process: events that nobody knows whose they were have it.
  WindowBuilder(NameSource& names, ResourceOf resource_of, Resource host);

  void set_filters(WindowFilters filters) { next_filters_ = std::move(filters); }

  // The processes of these samples are known, and stay so until they have ended.
  void add(const ResolvedSamples& samples);
  // Events of this window that left no stack: they are part of its totals.
  void add_lost(std::string_view reason, uint64_t count);

  // The window so far, and begins the next one. No profile when there was nothing.
  ProfileBatch cut(const WindowTimes& times);

  uint64_t samples() const { return samples_; }              // since the start
  uint64_t other_samples() const { return other_samples_; }  // of processes that are no targets
  uint64_t folded_frames() const { return folded_frames_; }
  // By executable, up to a thousand; the others together.
  const std::map<std::string, BinaryCoverage>& coverage() const { return coverage_; }

 private:
  struct OfProcess {
    std::shared_ptr<const SampledProcess> process;
    std::optional<ProcessResource> resource;
    BinaryCoverage* coverage = nullptr;
    SampleTable samples{kCpuTypes};
    UnwindResults results{};
    uint64_t folded_frames = 0;
  };
  struct Window {
    Window(NameSource& names, const WindowFilters& filters);
    ProfileBatch batch;
    StackBuilder stacks;
    std::unordered_map<uint32_t, OfProcess> processes;
    std::unordered_map<std::string, LabelSetId, TableKeyHash> threads;
    std::vector<std::pair<std::string, uint64_t>> lost;
  };
  struct Group;

  void begin_window();
  OfProcess& of_process(uint32_t index);
  void add_sample(const ResolvedSample& sample, std::span<const CodeAddress> frames);
  LabelSetId thread_labels(const ResolvedSample& sample);
  BinaryCoverage& coverage_of(const std::string& executable);
  Resource resource_at_cut(uint32_t index, const OfProcess& entry, const WindowTimes& times);
  std::map<Resource, Group> group_by_resource(const WindowTimes& times);
  void add_profile(const Resource& resource, Group& group, const WindowTimes& times);
  Samples without_rare_stacks(Samples samples);
  LabelSetId resource_labels(const Resource& resource);

  NameSource& names_;
  const ResourceOf resource_of_;
  const Resource host_;
  WindowFilters filters_;
  std::optional<WindowFilters> next_filters_;  // from the next window on
  std::unique_ptr<Window> window_;
  std::unordered_map<uint32_t, std::shared_ptr<const SampledProcess>> processes_;
  std::unordered_set<uint32_t> ended_;  // within this window
  ShortLivedPrograms short_lived_;
  std::map<std::string, BinaryCoverage> coverage_;
  uint64_t samples_ = 0;
  uint64_t other_samples_ = 0;
  uint64_t folded_frames_ = 0;
};

}  // namespace vesta::agent
