#include "agent/profiles/profile_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "agent/stream/unwind_result.h"

namespace vesta::agent {
namespace {

constexpr std::string_view kFolded = "frame folded into its caller by exclude_patterns";

StackBuilder::IsHidden hidden_by(const FrameFilter& filter) {
  if (filter.empty()) return {};
  return [filter](std::string_view name) { return filter.matches(name); };
}

constexpr uint32_t kNameless = 1U << 31;

bool is_made_of(const ProfileRequest& profile, uint32_t probe) {
  return std::ranges::find(profile.probes, probe) != profile.probes.end();
}

}  // namespace

std::string_view thread_name(const ResolvedSample& sample) {
  return {sample.thread, ::strnlen(sample.thread, sizeof(sample.thread))};
}

void StackCoverage::add(const ResolvedSample& sample, const KnownStack& stack) {
  ++samples;
  if (is_complete_stack(sample.result)) ++complete_stacks;
  frames += stack.frames;
  named_frames += stack.named_frames;
  decoded_frames += sample.decoded_frames;
  guessed_frames += sample.guessed_frames;
}

StackCoverage& StackCoverage::operator+=(const StackCoverage& other) {
  samples += other.samples;
  complete_stacks += other.complete_stacks;
  frames += other.frames;
  named_frames += other.named_frames;
  decoded_frames += other.decoded_frames;
  guessed_frames += other.guessed_frames;
  return *this;
}

ProfileGroup::ProfileGroup(std::span<const ProfileRequest> profiles) {
  profiles_.reserve(profiles.size());
  for (const ProfileRequest& profile : profiles)
    profiles_.emplace_back(profile.kind->columns.size());
}

void ProfileGroup::add(ProfileGroup other) {
  const std::vector<uint32_t> threads = threads_.add(other.threads_);
  for (size_t i = 0; i < profiles_.size(); ++i) {
    OfProfile& into = profiles_[i];
    OfProfile& from = other.profiles_[i];
    const Samples samples = from.samples.finish();
    const size_t columns = samples.size() == 0 ? 0 : samples.values.size() / samples.size();
    for (size_t row = 0; row < samples.size(); ++row) {
      into.samples.add(samples.stacks[row],
                       std::span(samples.values).subspan(row * columns, columns),
                       samples.label_set(row), LinkId(threads[samples.link(row).value]));
    }
    for (size_t result = 0; result < into.results.size(); ++result)
      into.results[result] += from.results[result];
    into.folded_frames += from.folded_frames;
    into.late_stacks += from.late_stacks;
    into.losses.insert(into.losses.end(), from.losses.begin(), from.losses.end());
  }
}

ProfileBuilder::ProfileBuilder(NameSource& names, std::span<const ProbeRequest> probes,
                               std::span<const ProfileRequest> profiles, ProfileFilters filters)
    : probes_(probes),
      profiles_(profiles),
      filters_(std::move(filters)),
      finds_idle_(
          filters_.fold_idle &&
          std::ranges::any_of(
              probes, [](const ProbeRequest& probe) { return probe.kind->cause_of != nullptr; })),
      stacks_(names, batch_->dictionary, hidden_by(filters_.hidden)) {}

const KnownStack& ProfileBuilder::add(ProfileGroup& group, const ResolvedSample& sample,
                                      std::span<const CodeAddress> frames, LabelSetId labels,
                                      std::string_view outermost, const SampleEnder& ender) {
  const ProbeRequest& probe = probes_[sample.probe];
  StackExtras extras;
  extras.outermost = outermost;
  extras.cause_of = probe.kind->cause_of;
  extras.with_kernel = probe.options.kernel_stacks;
  const KnownStack& stack = stacks_.stack_of(sample, frames, extras);
  if (!stack.cause.empty()) labels = with_label(labels, probe.kind->cause_label, stack.cause);
  const uint32_t thread = note_thread(group, sample, stack);
  if (probe.options.lock_addresses && sample.object != 0 && stack.cause == "lock")
    labels = with_label(labels, kLockAddress, fmt::format("{:#x}", sample.object));
  Ender shown;
  if (sample.ender.process != 0) {
    extras.interrupt_of = probe.kind->interrupt_of;
    const KnownEnder& known = stacks_.ender_of(sample, ender.frames, extras);
    shown.locations = known.locations;
    shown.name = known.interrupt.empty() ? ender.process : known.interrupt;
    labels = with_ender(labels, sample, known, shown);
  }
  for (size_t i = 0; i < profiles_.size(); ++i) {
    const ProfileRequest& profile = profiles_[i];
    if (!is_made_of(profile, sample.probe)) continue;
    LabelSetId own_labels = labels;
    StackId own_stack = stack.id;
    if (const ProbeView* view = profile.kind->view) {
      const std::optional<std::string>& part = part_of(*view, sample, stack);
      if (!part) continue;
      own_labels = with_label(labels, view->label, *part);
      own_stack = stack_in(*view, stack, shown, outermost);
    }
    add_to(group.profiles_[i], *profile.kind, sample, stack, own_stack, own_labels, thread);
  }
  return stack;
}

LabelSetId ProfileBuilder::with_ender(LabelSetId labels, const ResolvedSample& sample,
                                      const KnownEnder& known, const Ender& ender) {
  if (!known.interrupt.empty())
    return with_label(labels, kWakerProcess, fmt::format("[{}]", known.interrupt));
  const char* const thread = sample.ender.thread;
  return with_label(with_label(labels, kWakerProcess, ender.name), kWakerThread,
                    {thread, ::strnlen(thread, sizeof(sample.ender.thread))});
}

StackId ProfileBuilder::stack_in(const ProbeView& view, const KnownStack& stack, const Ender& ender,
                                 std::string_view outermost) {
  if (view.stack == ViewStack::kEvent) return stack.id;
  std::vector<LocationId> locations(ender.locations.begin(), ender.locations.end());
  if (view.stack == ViewStack::kEventAndEnder) {
    locations.push_back(stacks_.marker(
        ender.name.empty() ? "[waker not known]" : fmt::format("[woken by {}]", ender.name)));
    return stacks_.join(locations, stack.id);
  }
  if (ender.name.empty()) {
    locations.push_back(stacks_.marker("[holder not known]"));
  } else if (locations.empty()) {
    locations.push_back(stacks_.marker(fmt::format("[{}]", ender.name)));
  }
  if (!outermost.empty()) locations.push_back(stacks_.marker(outermost));
  return dictionary().stack(locations);
}

void ProfileBuilder::add_to(ProfileGroup::OfProfile& profile, const ProbeKind& kind,
                            const ResolvedSample& sample, const KnownStack& stack, StackId shown,
                            LabelSetId labels, uint32_t thread) {
  const ProbeKind& source = *probes_[sample.probe].kind;
  ++profile.results[sample.result];
  profile.folded_frames += stack.folded_frames;
  profile.late_stacks += stack.is_late ? 1 : 0;
  std::array<int64_t, VESTA_MAX_VALUES> values{};
  if (kind.view != nullptr) {
    values[kind.count_column] = static_cast<int64_t>(sample.values[source.count_column]);
    values[kind.main_column] = static_cast<int64_t>(sample.values[source.main_column]);
  } else {
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(sample.values[i]);
  }
  profile.samples.add(shown, std::span(values).first(kind.columns.size()), labels, LinkId(thread));
}

uint32_t ProfileBuilder::note_thread(ProfileGroup& group, const ResolvedSample& sample,
                                     const KnownStack& stack) {
  if (!finds_idle_) return 0;
  const ProbeKind& kind = *probes_[sample.probe].kind;
  const uint64_t ns = sample.values[kind.main_column];
  const uint32_t thread = group.threads_.thread(sample.process, sample.tid);
  const StackUse& use = use_of(stack.id, stack.cause);
  // Of a stack that is cut off nobody knows how deep it is.
  const bool is_whole = is_complete_stack(sample.result);
  const auto functions = is_whole ? std::span(use.functions) : std::span<const StringId>();
  if (stack.cause.empty()) {
    group.threads_.add_running(thread, ns, functions);
    return 0;
  }
  if (stack.cause == "run queue") return 0;
  group.threads_.add_wait(thread, ns, stack.id, is_whole ? use.purpose : WaitPurpose::kOther,
                          functions);
  return thread;
}

const ProfileBuilder::StackUse& ProfileBuilder::use_of(StackId stack, std::string_view cause) {
  const auto [at, is_new] = uses_.try_emplace(stack);
  StackUse& use = at->second;
  if (!is_new) return use;
  const Dictionary& named = dictionary().dictionary();
  std::vector<std::string_view> names;
  for (const LocationId location : named.stacks[stack]) {
    const bool is_kernel = named.location(location).kind == FrameKind::kKernel;
    // A place without a name is like no other.
    if (!is_kernel && named.lines[location].empty())
      use.functions.emplace_back(kNameless | location.value);
    for (const Line& line : named.lines[location]) {
      const StringId name = named.function(line.function).name;
      names.push_back(named.strings[name]);
      if (!is_kernel && !names.back().starts_with('[')) use.functions.push_back(name);
    }
  }
  use.purpose = wait_purpose(cause, names);
  return use;
}

StackId ProfileBuilder::below_idle(StackId stack) {
  StackId& below = below_idle_[stack];
  if (below) return below;
  const auto frames = dictionary().dictionary().stacks[stack];
  std::vector<LocationId> all(frames.begin(), frames.end());
  all.push_back(stacks_.marker(kIdle));
  below = dictionary().stack(all);
  return below;
}

Samples ProfileBuilder::without_threads(Samples samples, const std::vector<StackId>& idle,
                                        size_t columns) {
  if (samples.links.empty()) return samples;
  SampleTable kept(columns);
  for (size_t row = 0; row < samples.size(); ++row) {
    const StackId stack = samples.stacks[row];
    const uint32_t thread = samples.link(row).value;
    const bool is_idle = thread != 0 && idle[thread] == stack;
    kept.add(is_idle ? below_idle(stack) : stack,
             std::span(samples.values).subspan(row * columns, columns), samples.label_set(row));
  }
  return kept.finish();
}

const std::optional<std::string>& ProfileBuilder::part_of(const ProbeView& view,
                                                          const ResolvedSample& sample,
                                                          const KnownStack& stack) {
  const auto [at, is_new] =
      parts_.try_emplace({&view, stack.id, sample.probe, sample.detail}, std::nullopt);
  if (!is_new) return at->second;
  const Dictionary& named = dictionary().dictionary();
  std::vector<std::string_view> functions;
  for (const LocationId location : named.stacks[stack.id]) {
    for (const Line& line : named.lines[location])
      functions.push_back(named.strings[named.function(line.function).name]);
  }
  at->second = view.part_of({*probes_[sample.probe].kind, sample.detail, stack.cause, functions});
  return at->second;
}

LabelSetId ProfileBuilder::with_label(LabelSetId labels, std::string_view name,
                                      std::string_view value) {
  if (name.empty()) return labels;
  const std::array key = {labels.value, dictionary().string(name).value,
                          dictionary().string(value).value};
  const auto known = labelled_.find(key);
  if (known != labelled_.end()) return known->second;
  const auto others = dictionary().dictionary().label_sets[labels];
  std::vector<Label> all(others.begin(), others.end());
  all.push_back(dictionary().text_label(name, value));
  const LabelSetId id = dictionary().label_set(all);
  labelled_.emplace(key, id);
  return id;
}

void ProfileBuilder::add_lost(ProfileGroup& group, const LostEvents& lost, uint64_t period) {
  if (lost.count == 0) return;
  const LocationId frame = stacks_.marker(fmt::format("[lost: {}]", lost.reason));
  for (size_t i = 0; i < profiles_.size(); ++i) {
    if (!is_made_of(profiles_[i], lost.probe)) continue;
    const ProbeKind& kind = *profiles_[i].kind;
    ProfileGroup::OfProfile& profile = group.profiles_[i];
    profile.losses.emplace_back(lost.reason, lost.count);
    // Of some of the events nobody knows whether it was one of those that were lost.
    if (kind.view != nullptr && !kind.view->has_all_events) continue;
    std::array<int64_t, VESTA_MAX_VALUES> values{};
    values[kind.main_column] =
        static_cast<int64_t>(lost.value != 0 ? lost.value : lost.count * period);
    values[kind.count_column] = static_cast<int64_t>(lost.count);
    profile.samples.add(dictionary().stack(std::span(&frame, 1)),
                        std::span(values).first(kind.columns.size()));
  }
}

Profile ProfileBuilder::make_profile(const ProfileRequest& request, const ProfileTimes& times) {
  const ProbeKind& kind = *request.kind;
  DictionaryBuilder& dictionary = stacks_.dictionary();
  Profile profile;
  profile.name = dictionary.string(kind.profile);
  for (const ProbeColumn& column : kind.columns)
    profile.sample_types.push_back(
        {dictionary.string(column.type), dictionary.string(column.unit)});
  profile.default_type = static_cast<uint32_t>(kind.main_column);
  // Without a clock, or with several probes, each event says what it stands for.
  if (kind.default_rate != 0 && kind.view == nullptr) {
    profile.period_type = profile.sample_types[kind.main_column];
    profile.period = static_cast<int64_t>(times.periods[request.probes.front()]);
  }
  profile.time_ns = times.start_unix_ns;
  profile.duration_ns = times.duration_ns;
  return profile;
}

void ProfileBuilder::finish(ProfileGroup group, LabelSetId resource, const ProfileTimes& times,
                            bool with_empty) {
  DictionaryBuilder& dictionary = stacks_.dictionary();
  const std::vector<StackId> idle = group.threads_.decide();
  for (size_t i = 0; i < profiles_.size(); ++i) {
    ProfileGroup::OfProfile& of_profile = group.profiles_[i];
    Samples samples =
        without_threads(of_profile.samples.finish(), idle, profiles_[i].kind->columns.size());
    if (samples.size() == 0 && !with_empty) continue;
    Profile profile = make_profile(profiles_[i], times);
    profile.resource = resource;
    for (const auto& [reason, count] : of_profile.losses)
      profile.add_loss(dictionary.string(reason), count);
    for (size_t result = 0; result < of_profile.results.size(); ++result) {
      const auto code = static_cast<vesta_unwind_result>(result);
      if (is_complete_stack(code) || of_profile.results[result] == 0) continue;
      const std::string reason = fmt::format("incomplete stack: {}", unwind_result_name(code));
      profile.add_loss(dictionary.string(reason), of_profile.results[result]);
    }
    if (of_profile.folded_frames != 0)
      profile.add_loss(dictionary.string(kFolded), of_profile.folded_frames);
    if (of_profile.late_stacks != 0)
      profile.add_loss(dictionary.string(kLate), of_profile.late_stacks);
    profile.samples = without_rare_stacks(std::move(samples), *profiles_[i].kind);
    batch_->profiles.push_back(std::move(profile));
  }
}

void ProfileBuilder::add_loss(std::string_view reason, uint64_t count) {
  if (count == 0) return;
  for (Profile& profile : batch_->profiles)
    profile.add_loss(stacks_.dictionary().string(reason), count);
}

Samples ProfileBuilder::without_rare_stacks(Samples samples, const ProbeKind& kind) {
  if (filters_.min_samples <= 1) return samples;
  const size_t columns = kind.columns.size();
  // A stack counts as a whole, whichever threads it was seen on.
  std::unordered_map<uint32_t, int64_t> counts;
  for (size_t row = 0; row < samples.size(); ++row)
    counts[samples.stacks[row].value] += samples.values[row * columns + kind.count_column];
  StackId filtered;
  SampleTable kept(columns);
  for (size_t row = 0; row < samples.size(); ++row) {
    StackId stack = samples.stacks[row];
    if (counts[stack.value] < static_cast<int64_t>(filters_.min_samples)) {
      if (!filtered) {
        const LocationId frame =
            stacks_.marker(fmt::format("[filtered: fewer than {} samples]", filters_.min_samples));
        filtered = dictionary().stack(std::span(&frame, 1));
      }
      stack = filtered;
    }
    kept.add(stack, std::span(samples.values).subspan(row * columns, columns),
             samples.label_set(row));
  }
  return kept.finish();
}

}  // namespace vesta::agent
