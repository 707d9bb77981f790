#include "agent/profiles/window_builder.h"

#include <algorithm>
#include <charconv>

#include "agent/naming/name_source.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxBinaries = 1000;
constexpr std::string_view kOtherBinaries = "other";
constexpr std::string_view kUnattributed = "unattributed";

WindowBuilderOptions with_profiles(WindowBuilderOptions options) {
  if (options.profiles.empty()) options.profiles = profiles_of(options.probes);
  return options;
}

std::span<const CodeAddress> ender_frames(const ResolvedSample& sample,
                                          std::span<const CodeAddress> all_frames) {
  return all_frames.subspan(sample.ender.first_frame, sample.ender.frame_count);
}

}  // namespace

WindowBuilder::WindowBuilder(NameSource& names, ResourceOf resource_of, Resource host,
                             const WindowBuilderOptions& options)
    : names_(names),
      resource_of_(std::move(resource_of)),
      host_(std::move(host)),
      options_(with_profiles(options)),
      next_filters_(options.filters) {
  begin_window(0);
}

void WindowBuilder::begin_window(uint64_t start_ns) {
  windows_.push_back(std::make_unique<Window>(names_, options_, next_filters_, start_ns));
}

WindowBuilder::Window& WindowBuilder::window_at(uint64_t time_ns) {
  for (size_t i = windows_.size(); i-- > 0;) {
    if (windows_[i]->start_ns <= time_ns) return *windows_[i];
  }
  return *windows_.front();
}

void WindowBuilder::set_deadline(uint64_t sampled_ns) {
  if (options_.naming_grace_ns != 0) names_.set_deadline(sampled_ns + options_.naming_grace_ns);
}

void WindowBuilder::add(const ResolvedSamples& samples) {
  for (const auto& process : samples.processes) processes_[process->index] = process;
  learn_names(samples);
  for (const ResolvedSample& sample : samples.samples) add_sample(sample, samples.frames);
  for (const LostEvents& lost : samples.lost) {
    LostEvents& sum = window_at(lost.time_ns).lost[{lost.probe, lost.reason}];
    sum.count += lost.count;
    sum.value += lost.value;
  }
  for (const uint32_t process : samples.ended) ended_[process] = samples.complete_until_ns;
}

void WindowBuilder::learn_names(const ResolvedSamples& samples) {
  unknown_.clear();
  for (const ResolvedSample& sample : samples.samples) {
    Window& window = window_at(sample.time_ns);
    if (!of_process(window, sample.process).resource) continue;
    const auto frames = std::span(samples.frames).subspan(sample.first_frame, sample.frame_count);
    window.builder.add_new_places(sample, frames, unknown_);
    if (sample.ender.process != 0)
      window.builder.add_new_places(sample, ender_frames(sample, samples.frames), unknown_);
  }
  if (unknown_.empty()) return;
  set_deadline(samples.samples.front().time_ns);
  names_.learn(unknown_);
}

WindowBuilder::OfProcess& WindowBuilder::of_process(Window& window, uint32_t index) {
  const auto [at, is_new] = window.processes.try_emplace(index, options_.profiles);
  OfProcess& entry = at->second;
  if (!is_new) {
    if (entry.resource && entry.resource->is_preliminary)
      entry.resource = resource_of_(*entry.process);
    return entry;
  }
  const auto known = processes_.find(index);
  entry.process = known != processes_.end() ? known->second : std::make_shared<SampledProcess>();
  // Now, while it lives.
  entry.resource = resource_of_(*entry.process);
  entry.coverage = &coverage_of(entry.process->executable);
  return entry;
}

StackCoverage& WindowBuilder::coverage_of(const std::string& executable) {
  const std::string& name = executable.empty() ? "[kernel]" : executable;
  const auto known = coverage_.find(name);
  if (known != coverage_.end()) return known->second;
  return coverage_[coverage_.size() < kMaxBinaries ? name : std::string(kOtherBinaries)];
}

void WindowBuilder::add_sample(const ResolvedSample& sample,
                               std::span<const CodeAddress> all_frames) {
  ++samples_;
  if (sample.time_ns < windows_.front()->start_ns) ++strays_;
  Window& window = window_at(sample.time_ns);
  OfProcess& process = of_process(window, sample.process);
  if (!process.resource) {
    ++other_samples_;
    return;
  }
  set_deadline(sample.time_ns);
  SampleEnder ender;
  const auto ending = processes_.find(sample.ender.process);
  if (ending != processes_.end()) ender.process = ending->second->name;
  ender.frames = ender_frames(sample, all_frames);
  const KnownStack& stack = window.builder.add(
      process.group, sample, all_frames.subspan(sample.first_frame, sample.frame_count),
      window.thread_labels(sample), {}, ender);
  process.coverage->add(sample, stack);
  folded_frames_ += stack.folded_frames;
  late_stacks_ += stack.is_late ? 1 : 0;
}

LabelSetId WindowBuilder::Window::thread_labels(const ResolvedSample& sample) {
  std::string name(thread_name(sample));
  const auto known = threads.find(name);
  if (known != threads.end()) return known->second;
  DictionaryBuilder& dictionary = builder.dictionary();
  const Label label = dictionary.text_label(kThreadName, name);
  const LabelSetId id = dictionary.label_set(std::span(&label, 1));
  return threads.emplace(std::move(name), id).first->second;
}

// A build starts thousands of compilers: each as a series of its own would say nothing and cost
// much. Those that come and go within a window are one for each program, and of one service unless
// they have a name of their own.
Resource WindowBuilder::resource_at_cut(uint32_t index, const OfProcess& entry,
                                        const WindowTimes& times) {
  Resource resource = entry.resource->attributes;
  const SampledProcess& process = *entry.process;
  const uint64_t end_ns = times.start_ns + static_cast<uint64_t>(times.duration_ns);
  const auto ended = ended_.find(index);
  const ProcessLife life{process.start_ns, ended != ended_.end() && ended->second <= end_ns};
  bool is_short = life.has_ended && life.start_ns >= times.start_ns;
  if (entry.resource->is_plain_program) {
    is_short = short_lived_.is_short(process.executable, life, times.start_ns, times.duration_ns);
    for (auto& [name, value] : resource) {
      if (is_short && name == kServiceAttribute) value = kShortCommandsService;
    }
  }
  if (is_short)
    std::erase_if(resource, [](const auto& item) { return item.first == kPidAttribute; });
  return resource;
}

std::map<Resource, ProfileGroup> WindowBuilder::group_by_resource(Window& window,
                                                                  const WindowTimes& times) {
  // In the order of the processes, so that equal windows give equal bytes.
  std::vector<uint32_t> order;
  for (const auto& [index, entry] : window.processes) {
    if (entry.resource) order.push_back(index);
  }
  std::ranges::sort(order);
  std::map<Resource, ProfileGroup> groups;
  for (const uint32_t index : order) {
    OfProcess& entry = window.processes.at(index);
    const auto group =
        groups.try_emplace(resource_at_cut(index, entry, times), options_.profiles).first;
    group->second.add(std::move(entry.group));
  }
  return groups;
}

LabelSetId WindowBuilder::Window::resource_labels(const Resource& resource) {
  DictionaryBuilder& dictionary = builder.dictionary();
  std::vector<Label> labels;
  labels.reserve(resource.size());
  for (const auto& [name, value] : resource) {
    int64_t pid = 0;
    const bool is_number =
        name == kPidAttribute &&
        std::from_chars(value.data(), value.data() + value.size(), pid).ec == std::errc();
    labels.push_back(is_number ? dictionary.number_label(name, pid)
                               : dictionary.text_label(name, value));
  }
  return dictionary.label_set(labels);
}

void WindowBuilder::add_lost_events(Window& window, const ProfileTimes& times) {
  if (window.lost.empty()) return;
  Resource host = host_;
  host.emplace_back(kServiceAttribute, kUnattributed);
  std::ranges::sort(host);
  ProfileGroup group(options_.profiles);
  for (const auto& [key, events] : window.lost) {
    const auto& [probe, reason] = key;
    window.builder.add_lost(group, {probe, reason, events.count, 0, events.value},
                            times.periods[probe]);
  }
  window.builder.finish(std::move(group), window.resource_labels(host), times, false);
}

ProfileBatch WindowBuilder::cut(const WindowTimes& times) {
  const std::unique_ptr<Window> window = std::move(windows_.front());
  windows_.pop_front();
  const uint64_t end_ns = times.start_ns + static_cast<uint64_t>(times.duration_ns);
  const ProfileTimes profile_times{times.start_unix_ns, times.duration_ns, times.periods};
  for (auto& [resource, group] : group_by_resource(*window, times)) {
    window->builder.finish(std::move(group), window->resource_labels(resource), profile_times,
                           false);
  }
  add_lost_events(*window, profile_times);
  if (windows_.empty()) begin_window(end_ns);
  forget_ended(end_ns);
  return window->builder.take();
}

// Nothing of them can be in a window that is still open.
void WindowBuilder::forget_ended(uint64_t before_ns) {
  std::erase_if(ended_, [&](const auto& item) {
    if (item.second > before_ns) return false;
    processes_.erase(item.first);
    return true;
  });
}

}  // namespace vesta::agent
