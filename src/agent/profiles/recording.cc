#include "agent/profiles/recording.h"

#include "base/clock.h"

namespace vesta::agent {

Recording::Consumer::Consumer(const RecordingOptions& options, std::vector<uint64_t> periods)
    : symbolizer(options.symbolizer),
      builder(symbolizer, {options.sampling.probes, std::move(periods), options.per_thread,
                           options.process_frames, options.profiles}) {}

Recording::Recording(std::unique_ptr<Sampling> sampling, const RecordingOptions& options)
    : sampling_(std::move(sampling)), consumer_(options, sampling_->periods()) {}

Recording::~Recording() {
  sampling_->stop();
}

Result<std::unique_ptr<Recording>> Recording::start(const RecordingOptions& options) {
  VESTA_ASSIGN(auto sampling, Sampling::load(options.sampling));
  std::unique_ptr<Recording> recording(new Recording(std::move(sampling), options));
  VESTA_TRY(recording->sampling_->run(recording->consumer_));
  return recording;
}

Recording::Progress Recording::progress() const {
  const Sampling::Counters count = sampling_->counters();
  return {count.samples, count.lost_total(), consumer_.builder.coverage()};
}

Recording::Facts Recording::facts() const {
  Facts facts;
  for (size_t i = 0; i < sampling_->probes().size(); ++i)
    facts.probes.push_back(sampling_->probe(i));
  facts.first_sample_ns = sampling_->first_sample_ns();
  facts.kernel_problem = consumer_.symbolizer.kernel_problem();
  facts.runtime_problem = consumer_.symbolizer.runtime_problem();
  facts.cache_problem = sampling_->cache_problem();
  facts.ended_early = sampling_->ended_early();
  return facts;
}

Result<ProfileBatch> Recording::finish() {
  const uint64_t end_ns = monotonic_ns();
  sampling_->stop();
  return consumer_.builder.finish(static_cast<int64_t>(sampling_->began_unix_ns()),
                                  static_cast<int64_t>(end_ns - sampling_->began_ns()),
                                  sampling_->counters().troubles);
}

}  // namespace vesta::agent
