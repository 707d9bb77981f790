// Adds samples up into windows of time, by when they were taken: one profile for each process, all
// of a window in one batch. A window stays open until its owner cuts it, so that samples that come
// late are where they belong. Refers to what names come from, which must outlive it. One owner
// thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/profiles/profile_builder.h"
#include "agent/profiles/short_lived.h"
#include "base/table_hash.h"
#include "profile/profile.h"

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
  bool is_preliminary = false;  // more may be known by the next sample
};

// Nothing for a process that is no target.
using ResourceOf = std::function<std::optional<ProcessResource>(const SampledProcess&)>;

struct WindowTimes {
  uint64_t start_ns = 0;  // CLOCK_MONOTONIC
  int64_t start_unix_ns = 0;
  int64_t duration_ns = 0;
  std::vector<uint64_t> periods;  // of the probes, in force at its end
};

struct WindowBuilderOptions {
  std::vector<ProbeRequest> probes = default_probes();
  ProfileFilters filters;  // of the first window
  // What a sample waits for its names; then those that are not known are left out. 0: for ever.
  uint64_t naming_grace_ns = 0;
  std::vector<ProfileRequest> profiles = {};  // empty: one for each probe
};

class WindowBuilder {
 public:
  // `host` is what is known without a process: events that nobody knows whose they were have it.
  WindowBuilder(NameSource& names, ResourceOf resource_of, Resource host,
                const WindowBuilderOptions& options = {});

  void set_filters(ProfileFilters filters) { next_filters_ = std::move(filters); }

  // What is sampled from that time on (CLOCK_MONOTONIC) belongs to another window.
  void begin_window(uint64_t start_ns);
  size_t open_windows() const { return windows_.size(); }

  // The processes of these samples are known, and stay so until they have ended. Lost events are
  // part of the totals of the window in which they were counted.
  void add(const ResolvedSamples& samples);

  // The oldest window, which no sample is put into any more; a new one begins if there is no other.
  // No profile when there was nothing.
  ProfileBatch cut(const WindowTimes& times);

  uint64_t samples() const { return samples_; }              // since the start
  uint64_t other_samples() const { return other_samples_; }  // of processes that are no targets
  uint64_t folded_frames() const { return folded_frames_; }
  uint64_t late_stacks() const { return late_stacks_; }  // see ProfileBuilder::kLate
  uint64_t strays() const { return strays_; }            // came when their window had been cut
  // By executable, up to a thousand; the others together.
  const std::map<std::string, StackCoverage>& coverage() const { return coverage_; }

 private:
  struct OfProcess {
    explicit OfProcess(std::span<const ProfileRequest> profiles) : group(profiles) {}
    std::shared_ptr<const SampledProcess> process;
    std::optional<ProcessResource> resource;
    StackCoverage* coverage = nullptr;
    ProfileGroup group;
  };
  struct Window {
    Window(NameSource& names, const WindowBuilderOptions& options, const ProfileFilters& filters,
           uint64_t start)
        : start_ns(start), builder(names, options.probes, options.profiles, filters) {}
    uint64_t start_ns;
    ProfileBuilder builder;
    std::unordered_map<uint32_t, OfProcess> processes;
    std::unordered_map<std::string, LabelSetId, TableKeyHash> threads;
    std::map<std::pair<uint32_t, std::string>, LostEvents> lost;  // by probe and reason

    LabelSetId thread_labels(const ResolvedSample& sample);
    LabelSetId resource_labels(const Resource& resource);
  };

  // The oldest one for what was taken before it.
  Window& window_at(uint64_t time_ns);
  OfProcess& of_process(Window& window, uint32_t index);
  void set_deadline(uint64_t sampled_ns);
  void learn_names(const ResolvedSamples& samples);
  void add_sample(const ResolvedSample& sample, std::span<const CodeAddress> all_frames);
  StackCoverage& coverage_of(const std::string& executable);
  Resource resource_at_cut(uint32_t index, const OfProcess& entry, const WindowTimes& times);
  std::map<Resource, ProfileGroup> group_by_resource(Window& window, const WindowTimes& times);
  void add_lost_events(Window& window, const ProfileTimes& times);
  void forget_ended(uint64_t before_ns);

  NameSource& names_;
  const ResourceOf resource_of_;
  const Resource host_;
  const WindowBuilderOptions options_;
  ProfileFilters next_filters_;                  // from the next window on
  std::deque<std::unique_ptr<Window>> windows_;  // oldest first, never empty
  std::unordered_map<uint32_t, std::shared_ptr<const SampledProcess>> processes_;
  std::unordered_map<uint32_t, uint64_t> ended_;  // processes, and by when they had
  std::vector<CodeAddress> unknown_;              // scratch
  ShortLivedPrograms short_lived_;
  std::map<std::string, StackCoverage> coverage_;
  uint64_t samples_ = 0;
  uint64_t other_samples_ = 0;
  uint64_t folded_frames_ = 0;
  uint64_t late_stacks_ = 0;
  uint64_t strays_ = 0;
};

}  // namespace vesta::agent
