// A recording of CPU time: from the kernel's samples to a named profile. Two threads of its own,
// one that collects (drains the kernel, follows processes) and one that names; the owner starts,
// watches and ends it. Everything is detached when it is destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/cpu/perf_clock.h"
#include "agent/recording/profile_builder.h"
#include "agent/recording/symbolizer.h"
#include "agent/unwinding/table_loader.h"
#include "base/result.h"
#include "profile/profile.h"

namespace vesta {

struct RecordingOptions {
  uint32_t frequency = 99;
  ClockSource clock = ClockSource::kAuto;
  bool whole_host = false;
  std::vector<uint32_t> pids;  // with what they fork; unless whole_host
  bool kernel_stacks = true;
  bool per_thread = false;
  bool process_frames = false;
  SymbolizerOptions symbolizer;
  TableLoaderOptions tables;
  std::string cache_folder;        // for unwind tables; empty: none
  uint32_t ring_bytes = 2U << 20;  // enough for 199 samples per second and CPU
};

class Recording {
 public:
  struct Progress {
    uint64_t samples = 0;
    uint64_t lost = 0;
    Coverage coverage;
  };
  // What a user should be told beside the profile. REQUIRES: finish() has returned.
  struct Facts {
    PerfClock clock;
    uint64_t first_sample_ns = 0;  // after start(); 0 = none
    std::string kernel_problem;    // why kernel frames have no names; empty when they have
    std::string cache_problem;     // why unwind tables are not kept on disk
  };

  // Samples from here on. kPermission with what is missing, kNotFound for a process that does not
  // exist.
  static Result<std::unique_ptr<Recording>> start(const RecordingOptions& options);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  Progress progress() const;
  Facts facts() const;

  // Stops sampling, names what is left, and hands over the profile. Call once.
  Result<ProfileBatch> finish();

 private:
  struct Parts;
  explicit Recording(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace vesta
