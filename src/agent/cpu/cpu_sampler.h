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
#include "agent/unwinding/kernel_maps.h"
#include "base/result.h"

struct sampler_bpf;
struct ring_buffer;
struct bpf_link;

namespace vesta {

struct CpuSamplerOptions {
  uint32_t frequency = 99;
  ClockSource clock = ClockSource::kAuto;
  bool kernel_stacks = true;
  bool only_targets = false;       // else every process on the host
  uint32_t ring_bytes = 4U << 20;  // a power of two
  uint32_t max_processes = 4096;   // with mappings in the kernel; others are finished in user space
  uint32_t max_leaves = 16384;     // of VESTA_MAPPINGS_PER_LEAF mappings
  uint32_t max_modules = 8192;
};

// More of a deep stack than fits into a record.
struct StackPiece {
  uint64_t time_ns = 0;  // of its sample
  uint64_t address = 0;
  std::vector<char> bytes;
};

// One record, checked: the parts lie inside it. Views into the ring, valid during the callback.
struct SampleRecord {
  const vesta_sample& head;
  std::span<const uint64_t> kernel_frames;  // leaf first
  std::span<const uint64_t> user_frames;    // leaf first, VESTA_FRAME_EXACT on top
  std::span<const uint64_t> registers;      // empty, or VESTA_LEAF_REGISTERS
  std::span<const char> stack;              // from head.resume.sp - head.stack_below on
  std::span<const StackPiece> more_stack;
};

// Parts of a record as it came out of the ring; false when they do not fit into it.
bool parse_sample(std::span<const char> bytes, std::span<const StackPiece> more_stack,
                  const std::function<void(const SampleRecord&)>& use);

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

  Status add_target(uint32_t pid);
  void remove_target(uint32_t pid);

  // Begins to sample on every online CPU.
  Status start();
  // Follows CPUs that came or went since. Cheap when none did.
  Status update_cpus();
  // No record is made after this returns; those in the ring are still there.
  void stop();

  // Becomes readable when the ring fills up faster than it is drained.
  int ring_fd() const;
  // All records there are. Damaged ones are counted, not shown.
  Status drain(const std::function<void(const SampleRecord&)>& use);

  KernelCounters counters() const;
  uint64_t damaged_records() const { return damaged_records_; }

 private:
  struct Skeleton {
    void operator()(sampler_bpf* skeleton) const;
  };
  struct Ring {
    void operator()(ring_buffer* ring) const;
  };
  struct Link {
    void operator()(bpf_link* link) const;
  };

  CpuSampler() = default;
  Status open_cpu(int cpu);
  static int on_record(void* context, void* data, size_t size);
  bool take_record(std::span<const char> bytes);

  PerfClock clock_;
  std::unique_ptr<sampler_bpf, Skeleton> skeleton_;
  std::unique_ptr<ring_buffer, Ring> ring_;
  std::unique_ptr<bpf_link, Link> fork_link_;
  std::map<int, std::unique_ptr<bpf_link, Link>> cpu_links_;  // a link owns its event
  KernelMapFds map_fds_;
  const std::function<void(const SampleRecord&)>* use_ = nullptr;  // during drain()
  std::map<uint32_t, std::vector<StackPiece>> pieces_;  // by CPU, for the record that comes next
  uint64_t damaged_records_ = 0;
};

}  // namespace vesta
