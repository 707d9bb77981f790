#include "agent/recording/profile_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "agent/recording/unwind_result.h"
#include "base/hash.h"

namespace vesta {

size_t ProfileBuilder::CodeAddressHash::operator()(const CodeAddress& address) const {
  return hash64_of(std::span(&address, 1));
}

ProfileBuilder::ProfileBuilder(Symbolizer& symbolizer, const ProfileBuilderOptions& options)
    : symbolizer_(symbolizer), options_(options), dictionary_(batch_->dictionary) {}

Coverage ProfileBuilder::coverage() const {
  return {sample_count_, user_stacks_, whole_stacks_, frames_, named_frames_};
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
  const KnownStack& stack = stack_of(sample, frames);
  frames_ += stack.frames;
  named_frames_ += stack.named_frames;
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

// Programs come back to the same stacks: one look-up then, instead of one for each frame.
const ProfileBuilder::KnownStack& ProfileBuilder::stack_of(const ResolvedSample& sample,
                                                           std::span<const CodeAddress> frames) {
  const std::string_view bytes(reinterpret_cast<const char*>(frames.data()), frames.size_bytes());
  const StackKey key{hash128(bytes), sample.process, sample.result};
  const auto found = stacks_.find(key);
  if (found != stacks_.end()) return found->second;
  return stacks_.emplace(key, make_stack(sample, frames)).first->second;
}

ProfileBuilder::KnownStack ProfileBuilder::make_stack(const ResolvedSample& sample,
                                                      std::span<const CodeAddress> frames) {
  KnownStack stack;
  stack_.clear();
  for (const CodeAddress& address : frames) {
    const Place& place = place_of(address);
    stack_.push_back(place.location);
    stack.frames += place.frames;
    if (place.is_named) stack.named_frames += place.frames;
  }
  if (sample.result == VESTA_UNWIND_TRUNCATED) {
    stack_.push_back(marker("[truncated]"));
  } else if (!is_whole(sample.result)) {
    stack_.push_back(marker(fmt::format("[incomplete: {}]", unwind_result_name(sample.result))));
  }
  if (options_.process_frames) {
    const auto found = processes_.find(sample.process);
    if (found != processes_.end()) stack_.push_back(marker(found->second->name));
  }
  stack.id = dictionary_.stack(stack_);
  return stack;
}

const ProfileBuilder::Place& ProfileBuilder::place_of(const CodeAddress& address) {
  const auto found = places_.find(address);
  if (found != places_.end()) return found->second;
  return places_.emplace(address, make_place(address)).first->second;
}

ProfileBuilder::Place ProfileBuilder::make_place(const CodeAddress& address) {
  source_.clear();
  lines_.clear();
  const bool is_named = symbolizer_.symbolize(address, source_);
  for (const SourceFrame& frame : source_) {
    Function function;
    function.name = dictionary_.string(frame.name);
    function.system_name =
        frame.linkage_name.empty() ? function.name : dictionary_.string(frame.linkage_name);
    function.file = dictionary_.string(frame.file);
    function.start_line = frame.start_line;
    lines_.push_back({dictionary_.function(function), frame.column, frame.line});
  }
  Location location;
  location.address = address.address;
  location.mapping = mapping_of(address);
  location.kind = symbolizer_.kind(address);
  if (is_named && location.mapping) {
    Mapping& mapping = dictionary_.dictionary().mappings[location.mapping.index()];
    mapping.has_functions = true;
    for (const SourceFrame& frame : source_) {
      mapping.has_filenames |= !frame.file.empty();
      mapping.has_line_numbers |= frame.line != 0;
    }
    mapping.has_inline_frames |= source_.size() > 1;
  }
  // Not interned: equal addresses are found in places_, and flags of mappings change while we go.
  const LocationId id = dictionary_.dictionary().add_location(location, lines_);
  return {id, static_cast<uint32_t>(std::max<size_t>(1, source_.size())), is_named};
}

MappingId ProfileBuilder::mapping_of(const CodeAddress& address) {
  const CodePlace place = symbolizer_.place(address);
  if (place.file.empty()) return {};
  const StringId file = dictionary_.string(place.file);
  const StringId build_id = dictionary_.string(place.build_id);
  std::vector<Mapping>& mappings = dictionary_.dictionary().mappings;
  for (size_t i = 1; i < mappings.size(); ++i) {
    if (mappings[i].file == file && mappings[i].build_id == build_id &&
        mappings[i].start == place.start)
      return MappingId(i);
  }
  Mapping mapping;
  mapping.start = place.start;
  mapping.limit = place.limit;
  mapping.file_offset = place.file_offset;
  mapping.file = file;
  mapping.build_id = build_id;
  mappings.push_back(mapping);
  return MappingId(mappings.size() - 1);
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

LocationId ProfileBuilder::marker(std::string_view name) {
  return dictionary_.frame(name);
}

void ProfileBuilder::add_lost(std::string_view reason, uint64_t count) {
  if (count == 0) return;
  const LocationId frame = marker(fmt::format("[lost: {}]", reason));
  const std::array<int64_t, 2> values = {static_cast<int64_t>(count),
                                         static_cast<int64_t>(count * options_.period_ns)};
  samples_.add(dictionary_.stack(std::span(&frame, 1)), values);
  add_loss(reason, count);
}

void ProfileBuilder::add_loss(std::string_view reason, uint64_t count) {
  if (count != 0) losses_.push_back({dictionary_.string(reason), count});
}

// Readers of pprof take the first mapping for the program itself.
void ProfileBuilder::put_program_first() {
  if (options_.process_frames) return;
  const auto busiest =
      std::max_element(sampled_processes_.begin(), sampled_processes_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto process =
      busiest == sampled_processes_.end() ? processes_.end() : processes_.find(busiest->first);
  if (process == processes_.end()) return;
  const StringId executable = dictionary_.string(process->second->executable);
  Dictionary& dictionary = dictionary_.dictionary();
  std::vector<Mapping>& mappings = dictionary.mappings;
  const auto program = std::find_if(
      mappings.begin() + 1, mappings.end(),
      [&](const Mapping& mapping) { return mapping.file && mapping.file == executable; });
  if (program == mappings.end()) return;
  const MappingId first(1);
  const MappingId other(static_cast<size_t>(program - mappings.begin()));
  std::swap(mappings[first.index()], *program);
  for (Location& location : dictionary.locations) {
    if (location.mapping == first) {
      location.mapping = other;
    } else if (location.mapping == other) {
      location.mapping = first;
    }
  }
}

ProfileBatch ProfileBuilder::finish(int64_t start_unix_ns, int64_t duration_ns) {
  for (size_t result = 0; result < results_.size(); ++result) {
    const auto code = static_cast<vesta_unwind_result>(result);
    if (is_whole(code)) continue;
    add_loss(fmt::format("incomplete stack: {}", unwind_result_name(code)), results_[result]);
  }
  put_program_first();
  Profile profile;
  profile.name = dictionary_.string("process_cpu");
  profile.sample_types = {{dictionary_.string("samples"), dictionary_.string("count")},
                          {dictionary_.string("cpu"), dictionary_.string("nanoseconds")}};
  profile.default_type = 1;
  profile.period_type = {dictionary_.string("cpu"), dictionary_.string("nanoseconds")};
  profile.period = static_cast<int64_t>(options_.period_ns);
  profile.time_ns = start_unix_ns;
  profile.duration_ns = duration_ns;
  for (const Loss& loss : losses_) profile.add_loss(loss.reason, loss.count);
  profile.samples = samples_.finish();
  batch_->profiles.push_back(std::move(profile));
  return std::move(*batch_);
}

}  // namespace vesta
