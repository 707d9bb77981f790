// The kernel side of CPU profiling: loads the program, runs it on the clock of every CPU, and hands
// out its records. All that it attached is gone when it is destroyed, and when the process dies.
// One owner thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <shared/sample.h>
#include "agent/cpu/perf_clock.h"
#include "agent/cpu/sample_ring.h"
#include "agent/kernel/online_cpus.h"
#include "agent/unwinding/kernel_maps.h"
#include "base/file.h"
#include "base/result.h"

struct sampler_bpf;
struct bpf_link;

namespace vesta {

struct CpuSamplerOptions {
  uint32_t frequency = 99;
  ClockSource clock = ClockSource::kAuto;
  bool kernel_stacks = true;
  bool only_targets = false;       // else every process on the host
  std::vector<int> cgroups;        // folders of version 2: all in and below them are targets, too
  uint32_t ring_bytes = 4U << 20;  // a power of two
  uint32_t max_processes = 4096;   // with mappings in the kernel; others are finished in user space
  uint32_t max_leaves = 16384;     // of VESTA_MAPPINGS_PER_LEAF mappings
  uint32_t max_modules = 8192;
  std::string online_cpus = kOnlineCpus;  // the list of CPUs to sample on
};

// What its programs took of the CPUs. Stays 0 unless somebody counts (see kernel/bpf_stats.h).
struct KernelRunTime {
  uint64_t ns = 0;
  uint64_t runs = 0;
};

// By enum vesta_counter, summed over CPUs.
using KernelCounters = std::array<uint64_t, VESTA_COUNTERS>;

class CpuSampler {
 public:
  // Loads, but does not start.
  static Result<std::unique_ptr<CpuSampler>> load(const CpuSamplerOptions& options);
  ~CpuSampler();
  CpuSampler(const CpuSampler&) = delete;
  CpuSampler& operator=(const CpuSampler&) = delete;

  const PerfClock& clock() const { return clock_; }
  const KernelMapFds& maps() const { return map_fds_; }

  // The whole process and, from start() on, what it forks.
  Status add_target(uint32_t pid);
  // That thread alone, unless its whole process is a target.
  Status add_target_thread(uint32_t pid, uint32_t tid);
  void remove_target(uint32_t pid);
  // Whole processes that are targets now, those that were forked included.
  std::vector<uint32_t> target_processes() const;

  // Begins to sample on every online CPU.
  Status start();
  // Follows CPUs that came or went since. Cheap when none did.
  Status update_cpus();
  // Ticks at another rate from now on. Weights stay true: a record made before carries the old
  // period, one made after the new one, and the first of each CPU also the stretch since its last
  // tick. kUsage for a rate of 0.
  Status set_frequency(uint32_t frequency);
  // No record is made after this returns; those in the ring are still there.
  void stop();

  // Becomes readable when the ring fills up faster than it is drained.
  int ring_fd() const { return ring_->fd(); }
  // All records there are. Damaged ones are counted, not shown.
  Status drain(const std::function<void(const SampleRecord&)>& use) { return ring_->drain(use); }

  KernelCounters counters() const;
  KernelRunTime run_time() const;
  uint64_t damaged_records() const { return ring_->damaged_records(); }

 private:
  struct Skeleton {
    void operator()(sampler_bpf* skeleton) const;
  };
  struct Link {
    void operator()(bpf_link* link) const;
  };

  struct CpuClock {
    UniqueFd event;  // the link has its own copy
    std::unique_ptr<bpf_link, Link> link;
    uint64_t started_ns = 0;
    uint64_t counted = 0;  // units of a hardware clock when it started
  };

  CpuSampler() = default;
  Status open_cpu(int cpu);
  Status change_clock(int cpu, CpuClock& cpu_clock, const PerfClock& next);

  PerfClock clock_;
  std::string online_cpus_;
  std::unique_ptr<sampler_bpf, Skeleton> skeleton_;
  std::unique_ptr<SampleRing> ring_;
  std::unique_ptr<bpf_link, Link> fork_link_;
  std::map<int, CpuClock> cpu_clocks_;
  KernelMapFds map_fds_;
};

}  // namespace vesta
