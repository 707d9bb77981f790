// The probe of CPU time: its program runs at every tick of a clock on each online CPU. One owner
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "agent/kernel/kernel_session.h"
#include "agent/kernel/online_cpus.h"
#include "agent/probes/cpu/perf_clock.h"
#include "agent/probes/probe.h"
#include "base/file.h"
#include "base/result.h"

struct cpu_bpf;
struct bpf_link;

namespace vesta::agent {

struct CpuProbeOptions {
  uint32_t rate = 99;
  ClockSource clock = ClockSource::kAuto;
  bool kernel_stacks = true;
  std::string online_cpus = kOnlineCpus;  // the list of CPUs to sample on
};

class CpuProbe final : public Probe {
 public:
  static Result<std::unique_ptr<CpuProbe>> load(const KernelSession& session, uint32_t number,
                                                const CpuProbeOptions& options);
  ~CpuProbe() override;

  const PerfClock& clock() const { return clock_; }

  Status start() override { return maintain(); }
  void stop() override { cpu_clocks_.clear(); }
  // A record made before carries the old period, one made after the new one, and the first of each
  // CPU also the stretch since its last tick.
  Status set_rate(uint32_t rate) override;
  // Follows CPUs that came or went since.
  Status maintain() override;

  uint64_t period() const override { return clock_.period_ns; }
  ProbeSource source() const override {
    return {clock_source_name(clock_.source), clock_.fallback_reason};
  }
  KernelRunTime cost() const override;

 private:
  struct Skeleton {
    void operator()(cpu_bpf* skeleton) const;
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

  CpuProbe() = default;
  Status open_cpu(int cpu);
  Status change_clock(int cpu, CpuClock& cpu_clock, const PerfClock& next);

  PerfClock clock_;
  std::string online_cpus_;
  std::unique_ptr<cpu_bpf, Skeleton> skeleton_;
  std::map<int, CpuClock> cpu_clocks_;
};

// For the table of probes. kUsage for a source that is not a clock.
Result<std::unique_ptr<Probe>> load_cpu_probe(const KernelSession& session, uint32_t number,
                                              const ProbeOptions& options);

}  // namespace vesta::agent
