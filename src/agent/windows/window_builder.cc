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
};

WindowBuilder::Window::Window(NameSource& names, const WindowFilters& filters)
    : stacks(
          names, batch.dictionary,
          filters.hidden.empty()
              ? StackBuilder::IsHidden()
              : [hidden = filters.hidden](std::string_view name) { return hidden.matches(name); }) {
}

WindowBuilder::WindowBuilder(NameSource& names, ResourceOf resource_of, Resource host)
    : names_(names), resource_of_(std::move(resource_of)), host_(std::move(host)) {
  begin_window();
}

void WindowBuilder::begin_window() {
  if (next_filters_) filters_ = *std::exchange(next_filters_, std::nullopt);
  window_ = std::make_unique<Window>(names_, filters_);
  for (const uint32_t index : ended_) processes_.erase(index);
  ended_.clear();
}

void WindowBuilder::add(const ResolvedSamples& samples) {
  for (const auto& process : samples.processes) processes_[process->index] = process;
  for (const ResolvedSample& sample : samples.samples)
    add_sample(sample, std::span(samples.frames).subspan(sample.first_frame, sample.frame_count));
  ended_.insert(samples.ended.begin(), samples.ended.end());
}

WindowBuilder::OfProcess& WindowBuilder::of_process(uint32_t index) {
  const auto [at, is_new] = window_->processes.try_emplace(index);
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
  OfProcess& process = of_process(sample.process);
  if (!process.resource) {
    ++other_samples_;
    return;
  }
  const KnownStack& stack = window_->stacks.stack_of(sample, frames);
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
  const std::array<int64_t, kCpuTypes> values = {1, static_cast<int64_t>(sample.weight_ns)};
  process.samples.add(stack.id, values, thread_labels(sample));
}

LabelSetId WindowBuilder::thread_labels(const ResolvedSample& sample) {
  std::string name(sample.thread, ::strnlen(sample.thread, sizeof(sample.thread)));
  const auto known = window_->threads.find(name);
  if (known != window_->threads.end()) return known->second;
  DictionaryBuilder& dictionary = window_->stacks.dictionary();
  const Label label = dictionary.text_label("thread.name", name);
  const LabelSetId id = dictionary.label_set(std::span(&label, 1));
  return window_->threads.emplace(std::move(name), id).first->second;
}

void WindowBuilder::add_lost(std::string_view reason, uint64_t count) {
  if (count != 0) window_->lost.emplace_back(reason, count);
}

// A build starts thousands of compilers: each as a series of its own would say nothing and cost
// much. Those that come and go within a window are one for each program, and of one service unless
// they have a name of their own.
Resource WindowBuilder::resource_at_cut(uint32_t index, const OfProcess& entry,
                                        const WindowTimes& times) {
  Resource resource = entry.resource->attributes;
  const SampledProcess& process = *entry.process;
  const ProcessLife life{process.start_ns, ended_.contains(index)};
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
    const WindowTimes& times) {
  // In the order of the processes, so that equal windows give equal bytes.
  std::vector<uint32_t> order;
  for (const auto& [index, entry] : window_->processes) {
    if (entry.resource) order.push_back(index);
  }
  std::ranges::sort(order);
  std::map<Resource, Group> groups;
  for (const uint32_t index : order) {
    OfProcess& entry = window_->processes.at(index);
    Group& group = groups[resource_at_cut(index, entry, times)];
    const Samples samples = entry.samples.finish();
    for (size_t row = 0; row < samples.size(); ++row) {
      group.samples.add(samples.stacks[row],
                        std::span(samples.values).subspan(row * kCpuTypes, kCpuTypes),
                        samples.label_set(row));
    }
    for (size_t i = 0; i < group.results.size(); ++i) group.results[i] += entry.results[i];
    group.folded_frames += entry.folded_frames;
  }
  return groups;
}

Samples WindowBuilder::without_rare_stacks(Samples samples) {
  if (filters_.min_samples <= 1) return samples;
  // A stack counts as a whole, whichever threads it was seen on.
  std::unordered_map<uint32_t, int64_t> counts;
  for (size_t row = 0; row < samples.size(); ++row)
    counts[samples.stacks[row].value] += samples.values[row * kCpuTypes];
  StackId filtered;
  SampleTable kept(kCpuTypes);
  for (size_t row = 0; row < samples.size(); ++row) {
    StackId stack = samples.stacks[row];
    if (counts[stack.value] < static_cast<int64_t>(filters_.min_samples)) {
      if (!filtered) {
        const LocationId frame = window_->stacks.marker(
            fmt::format("[filtered: fewer than {} samples]", filters_.min_samples));
        filtered = window_->stacks.dictionary().stack(std::span(&frame, 1));
      }
      stack = filtered;
    }
    kept.add(stack, std::span(samples.values).subspan(row * kCpuTypes, kCpuTypes),
             samples.label_set(row));
  }
  return kept.finish();
}

LabelSetId WindowBuilder::resource_labels(const Resource& resource) {
  DictionaryBuilder& dictionary = window_->stacks.dictionary();
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

void WindowBuilder::add_profile(const Resource& resource, Group& group, const WindowTimes& times) {
  DictionaryBuilder& dictionary = window_->stacks.dictionary();
  Profile profile =
      make_cpu_profile(dictionary, times.period_ns, times.start_unix_ns, times.duration_ns);
  profile.resource = resource_labels(resource);
  add_unwind_losses(dictionary, profile, group.results);
  if (group.folded_frames != 0) {
    profile.add_loss(dictionary.string("frame folded into its caller by exclude_patterns"),
                     group.folded_frames);
  }
  profile.samples = without_rare_stacks(group.samples.finish());
  window_->batch.profiles.push_back(std::move(profile));
}

ProfileBatch WindowBuilder::cut(const WindowTimes& times) {
  for (auto& [resource, group] : group_by_resource(times)) add_profile(resource, group, times);
  if (!window_->lost.empty()) {
    Group group;
    DictionaryBuilder& dictionary = window_->stacks.dictionary();
    Resource resource = host_;
    resource.emplace_back(kServiceAttribute, kUnattributed);
    std::ranges::sort(resource);
    for (const auto& [reason, count] : window_->lost) {
      const LocationId frame = window_->stacks.marker(fmt::format("[lost: {}]", reason));
      const std::array<int64_t, kCpuTypes> values = {static_cast<int64_t>(count),
                                                     static_cast<int64_t>(count * times.period_ns)};
      group.samples.add(dictionary.stack(std::span(&frame, 1)), values);
    }
    add_profile(resource, group, times);
    for (const auto& [reason, count] : window_->lost)
      window_->batch.profiles.back().add_loss(dictionary.string(reason), count);
  }
  ProfileBatch batch = std::move(window_->batch);
  begin_window();
  return batch;
}

}  // namespace vesta::agent
