#include "agent/windows/window_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace vesta::agent {
namespace {

constexpr size_t kMaxBinaries = 1000;
constexpr std::string_view kOtherBinaries = "other";
constexpr std::string_view kUnattributed = "unattributed";

}  // namespace

// Processes that cannot be told apart by their resource.
struct WindowBuilder::Group {
  SampleTable samples{kCpuTypes};
  UnwindResults results{};
  uint64_t folded_frames = 0;
  uint64_t late_stacks = 0;
};

WindowBuilder::Window::Window(NameSource& names, const WindowFilters& window_filters,
                              uint64_t start)
    : start_ns(start),
      filters(window_filters),
      stacks(
          names, batch.dictionary,
          filters.hidden.empty()
              ? StackBuilder::IsHidden()
              : [hidden = filters.hidden](std::string_view name) { return hidden.matches(name); }) {
}

WindowBuilder::WindowBuilder(NameSource& names, ResourceOf resource_of, Resource host,
                             const WindowBuilderOptions& options)
    : names_(names),
      resource_of_(std::move(resource_of)),
      host_(std::move(host)),
      options_(options),
      next_filters_(options.filters) {
  begin_window(0);
}

void WindowBuilder::begin_window(uint64_t start_ns) {
  windows_.push_back(std::make_unique<Window>(names_, next_filters_, start_ns));
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
  for (const ResolvedSample& sample : samples.samples)
    add_sample(sample, std::span(samples.frames).subspan(sample.first_frame, sample.frame_count));
  for (const LostEvents& lost : samples.lost)
    window_at(lost.time_ns).lost.emplace_back(lost.reason, lost.count);
  for (const uint32_t process : samples.ended) ended_[process] = samples.complete_until_ns;
}

void WindowBuilder::learn_names(const ResolvedSamples& samples) {
  unknown_.clear();
  for (const ResolvedSample& sample : samples.samples) {
    if (!of_process(window_at(sample.time_ns), sample.process).resource) continue;
    const auto frames = std::span(samples.frames).subspan(sample.first_frame, sample.frame_count);
    unknown_.insert(unknown_.end(), frames.begin(), frames.end());
  }
  if (unknown_.empty()) return;
  set_deadline(samples.samples.front().time_ns);
  names_.learn(unknown_);
}

WindowBuilder::OfProcess& WindowBuilder::of_process(Window& window, uint32_t index) {
  const auto [at, is_new] = window.processes.try_emplace(index);
  OfProcess& entry = at->second;
  if (!is_new) return entry;
  const auto known = processes_.find(index);
  entry.process = known != processes_.end() ? known->second : std::make_shared<SampledProcess>();
  // Now, while it lives.
  entry.resource = resource_of_(*entry.process);
  entry.coverage = &coverage_of(entry.process->executable);
  return entry;
}

BinaryCoverage& WindowBuilder::coverage_of(const std::string& executable) {
  const std::string& name = executable.empty() ? "[kernel]" : executable;
  const auto known = coverage_.find(name);
  if (known != coverage_.end()) return known->second;
  return coverage_[coverage_.size() < kMaxBinaries ? name : std::string(kOtherBinaries)];
}

void WindowBuilder::add_sample(const ResolvedSample& sample, std::span<const CodeAddress> frames) {
  ++samples_;
  if (sample.time_ns < windows_.front()->start_ns) ++strays_;
  Window& window = window_at(sample.time_ns);
  OfProcess& process = of_process(window, sample.process);
  if (!process.resource) {
    ++other_samples_;
    return;
  }
  set_deadline(sample.time_ns);
  const KnownStack& stack = window.stacks.stack_of(sample, frames);
  BinaryCoverage& coverage = *process.coverage;
  ++coverage.samples;
  coverage.frames += stack.frames;
  coverage.named_frames += stack.named_frames;
  coverage.decoded_frames += sample.decoded_frames;
  coverage.guessed_frames += sample.guessed_frames;
  if (sample.result == VESTA_UNWIND_COMPLETE || sample.result == VESTA_UNWIND_NO_USER)
    ++coverage.whole_stacks;
  ++process.results[sample.result];
  process.folded_frames += stack.folded_frames;
  folded_frames_ += stack.folded_frames;
  process.late_stacks += stack.is_late ? 1 : 0;
  late_stacks_ += stack.is_late ? 1 : 0;
  const std::array<int64_t, kCpuTypes> values = {1, static_cast<int64_t>(sample.weight_ns)};
  process.samples.add(stack.id, values, window.thread_labels(sample));
}

LabelSetId WindowBuilder::Window::thread_labels(const ResolvedSample& sample) {
  std::string name(sample.thread, ::strnlen(sample.thread, sizeof(sample.thread)));
  const auto known = threads.find(name);
  if (known != threads.end()) return known->second;
  DictionaryBuilder& dictionary = stacks.dictionary();
  const Label label = dictionary.text_label("thread.name", name);
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

std::map<Resource, WindowBuilder::Group> WindowBuilder::group_by_resource(
    Window& window, const WindowTimes& times) {
  // In the order of the processes, so that equal windows give equal bytes.
  std::vector<uint32_t> order;
  for (const auto& [index, entry] : window.processes) {
    if (entry.resource) order.push_back(index);
  }
  std::ranges::sort(order);
  std::map<Resource, Group> groups;
  for (const uint32_t index : order) {
    OfProcess& entry = window.processes.at(index);
    Group& group = groups[resource_at_cut(index, entry, times)];
    const Samples samples = entry.samples.finish();
    for (size_t row = 0; row < samples.size(); ++row) {
      group.samples.add(samples.stacks[row],
                        std::span(samples.values).subspan(row * kCpuTypes, kCpuTypes),
                        samples.label_set(row));
    }
    for (size_t i = 0; i < group.results.size(); ++i) group.results[i] += entry.results[i];
    group.folded_frames += entry.folded_frames;
    group.late_stacks += entry.late_stacks;
  }
  return groups;
}

Samples WindowBuilder::Window::without_rare_stacks(Samples samples) {
  if (filters.min_samples <= 1) return samples;
  // A stack counts as a whole, whichever threads it was seen on.
  std::unordered_map<uint32_t, int64_t> counts;
  for (size_t row = 0; row < samples.size(); ++row)
    counts[samples.stacks[row].value] += samples.values[row * kCpuTypes];
  StackId filtered;
  SampleTable kept(kCpuTypes);
  for (size_t row = 0; row < samples.size(); ++row) {
    StackId stack = samples.stacks[row];
    if (counts[stack.value] < static_cast<int64_t>(filters.min_samples)) {
      if (!filtered) {
        const LocationId frame =
            stacks.marker(fmt::format("[filtered: fewer than {} samples]", filters.min_samples));
        filtered = stacks.dictionary().stack(std::span(&frame, 1));
      }
      stack = filtered;
    }
    kept.add(stack, std::span(samples.values).subspan(row * kCpuTypes, kCpuTypes),
             samples.label_set(row));
  }
  return kept.finish();
}

LabelSetId WindowBuilder::Window::resource_labels(const Resource& resource) {
  DictionaryBuilder& dictionary = stacks.dictionary();
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

void WindowBuilder::Window::add_profile(const Resource& resource, Group& group,
                                        const WindowTimes& times) {
  DictionaryBuilder& dictionary = stacks.dictionary();
  Profile profile =
      make_cpu_profile(dictionary, times.period_ns, times.start_unix_ns, times.duration_ns);
  profile.resource = resource_labels(resource);
  add_unwind_losses(dictionary, profile, group.results);
  if (group.folded_frames != 0) {
    profile.add_loss(dictionary.string("frame folded into its caller by exclude_patterns"),
                     group.folded_frames);
  }
  if (group.late_stacks != 0) profile.add_loss(dictionary.string(kLate), group.late_stacks);
  profile.samples = without_rare_stacks(group.samples.finish());
  batch.profiles.push_back(std::move(profile));
}

void WindowBuilder::Window::add_lost_events(Resource host, const WindowTimes& times) {
  if (lost.empty()) return;
  std::map<std::string, uint64_t> counts;
  for (const auto& [reason, count] : lost) counts[reason] += count;
  Group group;
  DictionaryBuilder& dictionary = stacks.dictionary();
  host.emplace_back(kServiceAttribute, kUnattributed);
  std::ranges::sort(host);
  for (const auto& [reason, count] : counts) {
    const LocationId frame = stacks.marker(fmt::format("[lost: {}]", reason));
    const std::array<int64_t, kCpuTypes> values = {static_cast<int64_t>(count),
                                                   static_cast<int64_t>(count * times.period_ns)};
    group.samples.add(dictionary.stack(std::span(&frame, 1)), values);
  }
  add_profile(host, group, times);
  for (const auto& [reason, count] : counts)
    batch.profiles.back().add_loss(dictionary.string(reason), count);
}

ProfileBatch WindowBuilder::cut(const WindowTimes& times) {
  const std::unique_ptr<Window> window = std::move(windows_.front());
  windows_.pop_front();
  const uint64_t end_ns = times.start_ns + static_cast<uint64_t>(times.duration_ns);
  for (auto& [resource, group] : group_by_resource(*window, times))
    window->add_profile(resource, group, times);
  window->add_lost_events(host_, times);
  if (windows_.empty()) begin_window(end_ns);
  forget_ended(end_ns);
  return std::move(window->batch);
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
