// Names samples and adds them up into profiles, for a recording and for a window of the agent
// alike: what a column, a loss, a lost event and a complete stack is, is decided here alone. Owners
// decide which samples belong together (a group becomes one profile for each probe and each view) and
// how they are labelled. Refers to where names come from, which must outlive it. One owner thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/naming/stack_builder.h"
#include "agent/probes/probe_table.h"
#include "agent/profiles/frame_filter.h"
#include "agent/profiles/idle_threads.h"
#include "agent/stream/resolved_samples.h"
#include "profile/dictionary_builder.h"
#include "profile/profile.h"
#include "profile/sample_table.h"

namespace vesta::agent {

// Labels of a sample, in OpenTelemetry's names.
inline constexpr std::string_view kThreadName = "thread.name";
inline constexpr std::string_view kThreadId = "thread.id";

// Of who ended a wait: the process, or an interrupt; and the thread.
inline constexpr std::string_view kWakerProcess = "waker.process";
inline constexpr std::string_view kWakerThread = "waker.thread";
inline constexpr std::string_view kLockAddress = "lock.address";

std::string_view thread_name(const ResolvedSample& sample);

// What a sample has of who ended its event.
struct SampleEnder {
  std::string_view process;  // its name
  std::span<const CodeAddress> frames;
};

// How much of what was sampled is complete and has names.
struct StackCoverage {
  uint64_t samples = 0;
  uint64_t complete_stacks = 0;  // see is_complete_stack()
  uint64_t frames = 0;
  uint64_t named_frames = 0;
  uint64_t decoded_frames = 0;  // see ResolvedSample
  uint64_t guessed_frames = 0;

  void add(const ResolvedSample& sample, const KnownStack& stack);
  StackCoverage& operator+=(const StackCoverage& other);
};

struct ProfileFilters {
  FrameFilter hidden;        // functions that are folded into their callers
  uint64_t min_samples = 1;  // of a stack; fewer are added up under one frame that says so
  bool fold_idle = true;     // waits of threads that have nothing to do are below kIdle
};

// Samples that become one profile for each request.
class ProfileGroup {
 public:
  explicit ProfileGroup(std::span<const ProfileRequest> profiles);
  void add(ProfileGroup other);

 private:
  friend class ProfileBuilder;
  struct OfProfile {
    explicit OfProfile(size_t columns) : samples(columns) {}
    SampleTable samples;
    std::array<uint64_t, VESTA_UNWIND_RESULTS> results{};
    uint64_t folded_frames = 0;
    uint64_t late_stacks = 0;
    std::vector<std::pair<std::string, uint64_t>> losses;
  };
  std::vector<OfProfile> profiles_;
  // Until finish(), the link of a wait is the number of its thread here.
  IdleThreads threads_;
};

struct ProfileTimes {
  int64_t start_unix_ns = 0;
  int64_t duration_ns = 0;
  std::vector<uint64_t> periods;  // by probe; those at the end
};

class ProfileBuilder {
 public:
  // The outermost frame of waits of idle threads.
  static constexpr std::string_view kIdle = "[idle]";
  static constexpr std::string_view kLate = "stack sent as addresses: symbolization took too long";

  // `probes` and `profiles` must outlive it, too.
  ProfileBuilder(NameSource& names, std::span<const ProbeRequest> probes,
                 std::span<const ProfileRequest> profiles, ProfileFilters filters = {});

  DictionaryBuilder& dictionary() { return stacks_.dictionary(); }
  // Readers of pprof take the first mapping for the program itself.
  void put_first(std::string_view executable) { stacks_.put_first(executable); }

  // See StackBuilder.
  void add_new_places(const ResolvedSample& sample, std::span<const CodeAddress> frames,
                      std::vector<CodeAddress>& places) const {
    stacks_.add_new_places(sample, frames, places);
  }
  // `outermost` is a frame above all others when it is not empty; it must be the same for the same
  // process. The stack is valid until the next call.
  const KnownStack& add(ProfileGroup& group, const ResolvedSample& sample,
                        std::span<const CodeAddress> frames, LabelSetId labels,
                        std::string_view outermost = {}, const SampleEnder& ender = {});
  // Events that left no stack, as samples under a frame that names the reason, so that totals stay
  // true. `period` is what each would have stood for, unless they say.
  void add_lost(ProfileGroup& group, const LostEvents& lost, uint64_t period);

  // The profiles of a group, in the order of requests; those without samples only if `with_empty`.
  void finish(ProfileGroup group, LabelSetId resource, const ProfileTimes& times, bool with_empty);
  // Something to be told with the profiles so far that cost no sample.
  void add_loss(std::string_view reason, uint64_t count);
  // All profiles; may not be used afterwards.
  ProfileBatch take() { return std::move(*batch_); }

 private:
  // What a view says about a stack of some probe and detail.
  struct PartKey {
    const ProbeView* view = nullptr;
    StackId stack;
    uint32_t probe = 0;
    uint64_t detail = 0;
    friend bool operator==(const PartKey&, const PartKey&) = default;
  };
  struct PartKeyHash {
    size_t operator()(const PartKey& key) const {
      return std::hash<const void*>()(key.view) ^ (uint64_t{key.stack.value} << 8 | key.probe) ^
             key.detail << 16;
    }
  };

  // Who ended the event of a sample, for a stack that shows it: the stack of a thread, and its name or
  // that of an interrupt. Empty when it is not known.
  struct Ender {
    std::span<const LocationId> locations;
    std::string name;
  };
  LabelSetId with_ender(LabelSetId labels, const ResolvedSample& sample, const KnownEnder& known,
                        const Ender& ender);
  // The stack that a view shows.
  StackId stack_in(const ProbeView& view, const KnownStack& stack, const Ender& ender,
                   std::string_view outermost);
  void add_to(ProfileGroup::OfProfile& profile, const ProbeKind& kind, const ResolvedSample& sample,
              const KnownStack& stack, StackId shown, LabelSetId labels, uint32_t thread);
  const std::optional<std::string>& part_of(const ProbeView& view, const ResolvedSample& sample,
                                            const KnownStack& stack);
  // What tells of a stack whether its thread is idle.
  struct StackUse {
    std::vector<StringId> functions;  // of the program, leaf first
    WaitPurpose purpose = WaitPurpose::kOther;
  };
  const StackUse& use_of(StackId stack, std::string_view cause);
  // The thread's number in the group, for a wait; 0 for others.
  uint32_t note_thread(ProfileGroup& group, const ResolvedSample& sample, const KnownStack& stack);
  Samples without_threads(Samples samples, const std::vector<StackId>& idle, size_t columns);
  StackId below_idle(StackId stack);
  LabelSetId with_label(LabelSetId labels, std::string_view name, std::string_view value);
  Samples without_rare_stacks(Samples samples, const ProbeKind& kind);
  Profile make_profile(const ProfileRequest& request, const ProfileTimes& times);

  const std::span<const ProbeRequest> probes_;
  const std::span<const ProfileRequest> profiles_;
  const ProfileFilters filters_;
  const bool finds_idle_;
  std::unique_ptr<ProfileBatch> batch_ = std::make_unique<ProfileBatch>();
  StackBuilder stacks_;
  // By what they were, and name and value of the label that is added.
  std::map<std::array<uint32_t, 3>, LabelSetId> labelled_;
  std::unordered_map<PartKey, std::optional<std::string>, PartKeyHash> parts_;
  std::unordered_map<StackId, StackUse> uses_;
  std::unordered_map<StackId, StackId> below_idle_;
};

}  // namespace vesta::agent
