#include "agent/recording/recording.h"

#include "base/clock.h"

namespace vesta {

Recording::Consumer::Consumer(const RecordingOptions& options, uint64_t period_ns)
    : symbolizer(options.symbolizer),
      builder(symbolizer, {options.per_thread, options.process_frames, period_ns}) {}

Recording::Recording(std::unique_ptr<Sampling> sampling, const RecordingOptions& options)
    : sampling_(std::move(sampling)), consumer_(options, sampling_->clock().period_ns) {}

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
  return {sampling_->clock(), sampling_->first_sample_ns(), consumer_.symbolizer.kernel_problem(),
          sampling_->cache_problem(), sampling_->ended_early()};
}

Result<ProfileBatch> Recording::finish() {
  const uint64_t end_ns = monotonic_ns();
  sampling_->stop();
  ProfileBuilder& builder = consumer_.builder;
  const Sampling::Counters count = sampling_->counters();
  for (const auto& [reason, events] : count.lost) builder.add_lost(reason, events);
  for (const auto& [reason, events] : count.troubles) builder.add_loss(reason, events);
  return builder.finish(static_cast<int64_t>(sampling_->began_unix_ns()),
                        static_cast<int64_t>(end_ns - sampling_->began_ns()));
}

}  // namespace vesta
