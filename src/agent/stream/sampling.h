// Sampling, from the events of probes to samples whose addresses are places in files. Two
// threads of its own: one that collects (drains the kernel, follows processes) and one on which the
// consumer names and adds up. The owner loads, runs and stops it. Everything is detached when it is
// destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent/probes/probe_table.h"
#include "agent/stream/resolved_samples.h"
#include "agent/stream/sampling_targets.h"
#include "agent/unwinding/table_loader.h"
#include "base/result.h"

namespace vesta::agent {

struct SamplingOptions {
  // Samples carry the index of theirs.
  std::vector<ProbeRequest> probes = default_probes();
  bool whole_host = false;
  TargetOptions targets;  // unless whole_host
  TableLoaderOptions tables;
  std::string cache_folder;            // for unwind tables; empty: none
  uint32_t ring_bytes = 2U << 20;      // a power of two; see ring_bytes_for()
  uint64_t queue_bytes = 64ULL << 20;  // of samples that wait to be named; more are lost
  // How long stacks wait for an unwind table: while sampling, and after stop().
  uint64_t table_wait_ns = 30'000'000'000;
  uint64_t last_table_wait_ns = 10'000'000'000;
};

// Room for what comes between two looks at the ring, and for copies of stacks beside it.
uint32_t ring_bytes_for(uint32_t frequency, uint32_t cpus);

// What happens to samples. All calls come from one thread, which may wait for files.
class SampleConsumer {
 public:
  SampleConsumer() = default;
  virtual ~SampleConsumer() = default;
  SampleConsumer(const SampleConsumer&) = delete;
  SampleConsumer& operator=(const SampleConsumer&) = delete;

  virtual void add(const ResolvedSamples& samples) = 0;
  // All that was sampled before that time (CLOCK_MONOTONIC) has been added.
  virtual void note_complete(uint64_t /*time_ns*/) {}
  // After every add(), and a few times a second without one.
  virtual void tick() {}
  // Every two seconds. True when much memory was freed, which is given back at once then.
  virtual bool tidy() { return false; }
  // After tidy(): a moment to give back pages of files, which come again when they are needed.
  virtual void release_pages() {}
};

class Sampling {
 public:
  // So far, since run(). Events that left no stack are in `lost`.
  struct Counters {
    uint64_t samples = 0;
    std::vector<std::pair<std::string, uint64_t>> lost;      // by reason; each was a sample
    std::vector<std::pair<std::string, uint64_t>> troubles;  // by reason; cost no sample
    uint64_t lost_total() const;
  };

  // Has the kernel check everything, but does not sample yet. kPermission with what is missing,
  // kNotFound for a target that does not exist.
  static Result<std::unique_ptr<Sampling>> load(const SamplingOptions& options);
  ~Sampling();
  Sampling(const Sampling&) = delete;
  Sampling& operator=(const Sampling&) = delete;

  // As they were asked for.
  const std::vector<ProbeRequest>& probes() const;

  // Samples from here on. `consumer` must live until stop() has returned. kNotFound when all
  // targets have ended since load().
  Status run(SampleConsumer& consumer);
  // Samples that often, soon: values stay true. Any thread.
  void set_rate(size_t probe, uint32_t rate);
  // No sample is taken after this begins, and the consumer has got all when it returns.
  void stop();

  // From any thread.
  // Nothing is left to sample. Never for the whole host.
  bool targets_ended() const;
  // Targets that ended between load() and run().
  const std::vector<uint32_t>& ended_early() const;
  Counters counters() const;
  struct ProbeState {
    ProbeSource source;
    uint32_t rate = 0;    // in force; 0 for a probe without a clock
    uint64_t period = 0;  // what an event stands for now; see Probe::period()
    uint64_t samples = 0;
  };
  ProbeState probe(size_t number) const;
  // See Probe::totals().
  std::vector<ProbeTotal> totals(size_t probe) const;
  std::vector<uint64_t> periods() const;
  // Times that each thread has come round; one that stands still hangs.
  struct Rounds {
    uint64_t collecting = 0;
    uint64_t naming = 0;
  };
  Rounds rounds() const;
  // Age of the oldest sample that the consumer has not dealt with; 0 when there is none.
  uint64_t oldest_unnamed_ns() const;
  struct Cost {
    uint64_t own_ns = 0;  // CPU time of its threads
    // Of programs in the kernel; 0 unless counted: count_bpf_run_time().
    KernelRunTime session;  // what all probes share
    std::vector<KernelRunTime> probes;
    KernelRunTime bpf() const;  // all of them
  };
  Cost cost() const;
  struct Sizes {
    uint64_t processes = 0;
    uint64_t modules = 0;
  };
  Sizes sizes() const;
  // When run() began to sample: CLOCK_MONOTONIC and Unix time.
  uint64_t began_ns() const;
  uint64_t began_unix_ns() const;
  uint64_t first_sample_ns() const;  // after load(); 0 = none
  // Why unwind tables are not kept on disk; empty when they are, or nobody asked for that.
  const std::string& cache_problem() const;

 private:
  struct Parts;
  explicit Sampling(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace vesta::agent
