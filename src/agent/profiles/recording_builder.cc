#include "agent/profiles/recording_builder.h"

#include <algorithm>
#include <utility>

namespace vesta::agent {
namespace {

RecordingBuilderOptions with_profiles(RecordingBuilderOptions options) {
  if (options.profiles.empty()) options.profiles = profiles_of(options.probes);
  return options;
}

}  // namespace

RecordingBuilder::RecordingBuilder(Symbolizer& symbolizer, RecordingBuilderOptions options)
    : symbolizer_(symbolizer),
      options_(with_profiles(std::move(options))),
      builder_(symbolizer, options_.probes, options_.profiles,
               {.hidden = {}, .fold_idle = options_.fold_idle}),
      group_(options_.profiles) {}

StackCoverage RecordingBuilder::coverage() const {
  const MutexLock lock(mutex_);
  return coverage_;
}

void RecordingBuilder::add(const ResolvedSamples& samples) {
  for (const auto& module : samples.modules) symbolizer_.add_module(module);
  for (const auto& process : samples.processes) {
    symbolizer_.add_process(process);
    processes_[process->index] = process;
  }
  for (const RuntimeSampleFrame& frame : samples.runtime_frames)
    symbolizer_.add_runtime_frame(frame);
  for (const KernelSymbolChange& change : samples.kernel_symbols) symbolizer_.apply(change);
  StackCoverage added;
  for (const ResolvedSample& sample : samples.samples) {
    const auto frames = std::span(samples.frames).subspan(sample.first_frame, sample.frame_count);
    const auto process = processes_.find(sample.process);
    const bool is_framed = options_.process_frames && process != processes_.end();
    SampleEnder ender;
    const auto ending = processes_.find(sample.ender.process);
    if (ending != processes_.end()) ender.process = ending->second->name;
    ender.frames =
        std::span(samples.frames).subspan(sample.ender.first_frame, sample.ender.frame_count);
    added.add(sample, builder_.add(group_, sample, frames, labels_of(sample),
                                   is_framed ? process->second->name : std::string_view(), ender));
    ++sampled_processes_[sample.process];
  }
  for (const LostEvents& lost : samples.lost)
    builder_.add_lost(group_, lost, options_.periods[lost.probe]);
  const MutexLock lock(mutex_);
  coverage_ += added;
}

LabelSetId RecordingBuilder::labels_of(const ResolvedSample& sample) {
  const ThreadKey key{sample.process, options_.per_thread ? sample.tid : 0};
  const std::string_view name = options_.per_thread ? thread_name(sample) : std::string_view();
  const auto cached = label_sets_.find(key);
  if (cached != label_sets_.end() && cached->second.name == name) return cached->second.id;
  const auto process = processes_.find(sample.process);
  if (process == processes_.end()) return {};
  DictionaryBuilder& dictionary = builder_.dictionary();
  std::vector<Label> labels = {dictionary.text_label("process", process->second->name),
                               dictionary.number_label("pid", process->second->pid)};
  if (options_.per_thread) {
    labels.push_back(dictionary.text_label(kThreadName, name));
    labels.push_back(dictionary.number_label(kThreadId, sample.tid));
  }
  const LabelSetId id = dictionary.label_set(labels);
  label_sets_[key] = {std::string(name), id};
  return id;
}

void RecordingBuilder::put_program_first() {
  if (options_.process_frames) return;
  const auto busiest =
      std::max_element(sampled_processes_.begin(), sampled_processes_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto process =
      busiest == sampled_processes_.end() ? processes_.end() : processes_.find(busiest->first);
  if (process != processes_.end()) builder_.put_first(process->second->executable);
}

ProfileBatch RecordingBuilder::finish(
    int64_t start_unix_ns, int64_t duration_ns,
    const std::vector<std::pair<std::string, uint64_t>>& troubles) {
  put_program_first();
  builder_.finish(std::move(group_), {}, {start_unix_ns, duration_ns, options_.periods}, true);
  for (const auto& [reason, count] : troubles) builder_.add_loss(reason, count);
  return builder_.take();
}

}  // namespace vesta::agent
