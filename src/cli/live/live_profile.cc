#include "cli/live/live_profile.h"

#include "agent/probes/probe.h"
#include "agent/stream/resolved_samples.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/text.h"
#include "profile/frame_name.h"
#include "profile/merge/merge.h"

namespace vesta::cli {
namespace {

// Rows are functions, of whatever binary: a frame of one does not tell where it is.
std::map<StringId, std::string> binaries_of(const Dictionary& dictionary) {
  std::map<StringId, std::string> out;
  for (size_t i = 1; i < dictionary.locations.size(); ++i) {
    const Location& location = dictionary.locations[i];
    if (!location.mapping) continue;
    const StringId file = dictionary.mapping(location.mapping).file;
    const std::string binary(base_name(dictionary.strings[file]));
    for (const Line& line : dictionary.lines[LocationId(i)]) {
      const auto [it, is_new] = out.emplace(dictionary.function(line.function).name, binary);
      if (!is_new && it->second != binary) it->second.clear();
    }
  }
  return out;
}

}  // namespace

LiveProfile::LiveProfile(const agent::RecordingOptions& options, std::vector<uint64_t> periods,
                         size_t stretches)
    : options_{options.sampling.probes, std::move(periods), options.per_thread,
               options.process_frames, options.profiles},
      max_stretches_(stretches),
      symbolizer_(options.symbolizer),
      builder_(make_builder()) {}

std::unique_ptr<agent::RecordingBuilder> LiveProfile::make_builder() {
  auto builder = std::make_unique<agent::RecordingBuilder>(symbolizer_, options_);
  agent::ResolvedSamples known;
  for (const auto& [index, process] : processes_) known.processes.push_back(process);
  builder->add(known);
  return builder;
}

void LiveProfile::add(const agent::ResolvedSamples& samples) {
  const MutexLock lock(mutex_);
  builder_->add(samples);
  for (const auto& process : samples.processes) processes_[process->index] = process;
  for (const uint32_t index : samples.ended) {
    symbolizer_.forget_process(index);
    processes_.erase(index);
  }
}

void LiveProfile::release_pages() {
  const MutexLock lock(mutex_);
  symbolizer_.release_pages();
}

void LiveProfile::next(int64_t duration_ns) {
  const int64_t now_unix = unix_now().ns;
  Stretch stretch;
  {
    const MutexLock lock(mutex_);
    stretch.coverage = builder_->coverage();
    stretch.batch = builder_->finish(now_unix - duration_ns, duration_ns);
    builder_ = make_builder();
  }
  stretch.duration_ns = duration_ns;
  stretches_.push_back(std::move(stretch));
  while (stretches_.size() > max_stretches_) stretches_.pop_front();
}

Result<LiveProfile::Window> LiveProfile::window(const FrameOptions& options) const {
  Window out;
  std::vector<const ProfileBatch*> batches;
  for (const Stretch& stretch : stretches_) {
    out.duration_ns += stretch.duration_ns;
    out.coverage += stretch.coverage;
    if (stretch.batch.profiles[0].samples.size() != 0) batches.push_back(&stretch.batch);
  }
  out.samples = out.coverage.samples;
  if (batches.empty()) {
    out.frames.dictionary = std::make_shared<const Dictionary>();
    return out;
  }
  const auto merged = std::make_shared<const ProfileBatch>(merge(batches));
  // What the first probe is about.
  const agent::ProbeKind& probe = *options_.probes.front().kind;
  VESTA_ASSIGN(const TypeInfo type,
               find_type(list_types(*merged), probe.columns[probe.main_column].type));
  VESTA_ASSIGN(out.frames, resolve_frames(select_type(merged, type), options));
  out.frames.duration_ns = out.duration_ns;
  out.binaries = binaries_of(merged->dictionary);
  return out;
}

}  // namespace vesta::cli
