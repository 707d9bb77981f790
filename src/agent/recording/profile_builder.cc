#include "agent/recording/profile_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "agent/recording/unwind_result.h"

namespace vesta {

ProfileBuilder::ProfileBuilder(Symbolizer& symbolizer, const ProfileBuilderOptions& options)
    : symbolizer_(symbolizer),
      options_(options),
      stacks_(symbolizer, batch_->dictionary),
      dictionary_(stacks_.dictionary()) {}

Coverage ProfileBuilder::coverage() const {
  return {sample_count_, user_stacks_,    whole_stacks_,  frames_,
          named_frames_, decoded_frames_, guessed_frames_};
}

void ProfileBuilder::add(const ResolvedSamples& samples) {
  for (const auto& module : samples.modules) symbolizer_.add_module(module);
  for (const auto& process : samples.processes) {
    symbolizer_.add_process(process);
    processes_[process->index] = process;
  }
  for (const KernelSymbolChange& change : samples.kernel_symbols) symbolizer_.apply(change);
  for (const ResolvedSample& sample : samples.samples) {
    add_sample(sample, std::span(samples.frames).subspan(sample.first_frame, sample.frame_count));
  }
}

void ProfileBuilder::add_sample(const ResolvedSample& sample, std::span<const CodeAddress> frames) {
  std::string_view outermost;
  if (options_.process_frames) {
    const auto found = processes_.find(sample.process);
    if (found != processes_.end()) outermost = found->second->name;
  }
  const KnownStack& stack = stacks_.stack_of(sample, frames, outermost);
  frames_ += stack.frames;
  named_frames_ += stack.named_frames;
  decoded_frames_ += sample.decoded_frames;
  guessed_frames_ += sample.guessed_frames;
  ++sample_count_;
  ++results_[sample.result];
  ++sampled_processes_[sample.process];
  if (sample.result != VESTA_UNWIND_NO_USER) {
    ++user_stacks_;
    if (sample.result == VESTA_UNWIND_COMPLETE) ++whole_stacks_;
  }
  const std::array<int64_t, 2> values = {1, static_cast<int64_t>(sample.weight_ns)};
  samples_.add(stack.id, values, labels_of(sample));
}

LabelSetId ProfileBuilder::labels_of(const ResolvedSample& sample) {
  const ThreadKey key{sample.process, options_.per_thread ? sample.tid : 0};
  const auto cached = label_sets_.find(key);
  if (cached != label_sets_.end()) return cached->second;
  const auto process = processes_.find(sample.process);
  if (process == processes_.end()) return {};
  std::vector<Label> labels = {dictionary_.text_label("process", process->second->name),
                               dictionary_.number_label("pid", process->second->pid)};
  if (options_.per_thread) {
    const std::string_view thread(sample.thread, ::strnlen(sample.thread, sizeof(sample.thread)));
    labels.push_back(dictionary_.text_label("thread", thread));
    labels.push_back(dictionary_.number_label("tid", sample.tid));
  }
  const LabelSetId id = dictionary_.label_set(labels);
  label_sets_[key] = id;
  return id;
}

void ProfileBuilder::add_lost(std::string_view reason, uint64_t count) {
  if (count == 0) return;
  const LocationId frame = stacks_.marker(fmt::format("[lost: {}]", reason));
  const std::array<int64_t, 2> values = {static_cast<int64_t>(count),
                                         static_cast<int64_t>(count * options_.period_ns)};
  samples_.add(dictionary_.stack(std::span(&frame, 1)), values);
  add_loss(reason, count);
}

void ProfileBuilder::add_loss(std::string_view reason, uint64_t count) {
  if (count != 0) losses_.push_back({dictionary_.string(reason), count});
}

void ProfileBuilder::put_program_first() {
  if (options_.process_frames) return;
  const auto busiest =
      std::max_element(sampled_processes_.begin(), sampled_processes_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto process =
      busiest == sampled_processes_.end() ? processes_.end() : processes_.find(busiest->first);
  if (process != processes_.end()) stacks_.put_first(process->second->executable);
}

ProfileBatch ProfileBuilder::finish(int64_t start_unix_ns, int64_t duration_ns) {
  put_program_first();
  Profile profile = make_cpu_profile(dictionary_, options_.period_ns, start_unix_ns, duration_ns);
  for (const Loss& loss : losses_) profile.add_loss(loss.reason, loss.count);
  add_unwind_losses(dictionary_, profile, results_);
  profile.samples = samples_.finish();
  batch_->profiles.push_back(std::move(profile));
  return std::move(*batch_);
}

}  // namespace vesta
