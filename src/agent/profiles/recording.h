// A recording: from the kernel's samples to one named profile for each request. The owner starts,
// watches and ends it. Everything is detached when it is destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "agent/naming/symbolizer.h"
#include "agent/profiles/recording_builder.h"
#include "agent/stream/sampling.h"
#include "base/result.h"
#include "profile/profile.h"

namespace vesta::agent {

struct RecordingOptions {
  SamplingOptions sampling;
  bool per_thread = false;
  bool process_frames = false;
  SymbolizerOptions symbolizer;
  std::vector<ProfileRequest> profiles = {};  // of the sampling's probes; empty: one for each
};

class Recording {
 public:
  struct Progress {
    uint64_t samples = 0;
    uint64_t lost = 0;
    StackCoverage coverage;
  };
  // What a user should be told beside the profile. REQUIRES: finish() has returned.
  struct Facts {
    std::vector<Sampling::ProbeState> probes;
    uint64_t first_sample_ns = 0;       // after start(); 0 = none
    std::string kernel_problem;         // why kernel frames have no names; empty when they have
    std::string runtime_problem;        // likewise for frames of a runtime
    std::string cache_problem;          // why unwind tables are not kept on disk
    std::vector<uint32_t> ended_early;  // targets that ended while it started
  };

  // Samples from here on. kPermission with what is missing, kNotFound for a process that does not
  // exist or ends before the first sample.
  static Result<std::unique_ptr<Recording>> start(const RecordingOptions& options);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  Progress progress() const;
  // Until finish() is called.
  Sampling::Cost cost() const { return sampling_->cost(); }
  // All that was to be recorded has ended.
  bool targets_ended() const { return sampling_->targets_ended(); }
  Facts facts() const;

  // Stops sampling, names what is left, and hands over the profile. Call once.
  Result<ProfileBatch> finish();

 private:
  struct Consumer final : SampleConsumer {
    Consumer(const RecordingOptions& options, std::vector<uint64_t> periods);
    void add(const ResolvedSamples& samples) override { builder.add(samples); }
    // Files stay mapped for the next name; what was read of them need not stay in memory.
    void release_pages() override { symbolizer.release_pages(); }

    Symbolizer symbolizer;
    RecordingBuilder builder;
  };
  Recording(std::unique_ptr<Sampling> sampling, const RecordingOptions& options);

  std::unique_ptr<Sampling> sampling_;
  Consumer consumer_;
};

}  // namespace vesta::agent
