// The probe of off-CPU time: follows threads from when they leave a CPU until they have one again.
// Which waits become samples, and with which weights, is in wait_weight.h of bpf/; README.md has the
// whole. One owner thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <shared/off_cpu.h>
#include "agent/kernel/kernel_session.h"
#include "agent/probes/off_cpu/take_rate.h"
#include "agent/probes/probe.h"
#include "base/result.h"

struct off_cpu_bpf;
struct bpf_link;

namespace vesta::agent {

class OffCpuProbe final : public Probe {
 public:
  // options.rate is the number of stacks a second; 0: the default.
  static Result<std::unique_ptr<OffCpuProbe>> load(const KernelSession& session, uint32_t number,
                                                   const ProbeOptions& options);
  ~OffCpuProbe() override;

  Status start() override;
  void stop() override;
  // Stacks a second, for the whole host. kUsage for 0.
  Status set_rate(uint32_t rate) override;
  Status maintain() override;
  Status cut(uint64_t time_ns, uint64_t older_than_ns, const UseOpenEvent& use) override;

  // What a wait that is shorter stands for when it is taken.
  uint64_t period() const override { return rate_.theta_ns(); }
  ProbeSource source() const override { return {"sched_switch", ""}; }
  KernelRunTime cost() const override;
  std::vector<ProbeTotal> totals() const override;

 private:
  struct Skeleton {
    void operator()(off_cpu_bpf* skeleton) const;
  };
  struct Link {
    void operator()(bpf_link* link) const;
  };

  OffCpuProbe(const KernelSession& session, uint32_t number, TakeRate rate);
  Status iterate(uint64_t time_ns, uint64_t older_than_ns, const UseOpenEvent& use);
  void apply_rate();
  uint64_t takes() const;

  const KernelSession& session_;
  const uint32_t number_;
  TakeRate rate_;
  std::unique_ptr<off_cpu_bpf, Skeleton> skeleton_;
  std::vector<std::unique_ptr<bpf_link, Link>> links_;
  std::unique_ptr<bpf_link, Link> iterator_;
  uint64_t counted_takes_ = 0;
  uint64_t counted_ns_ = 0;
};

// For the table of probes.
Result<std::unique_ptr<Probe>> load_off_cpu_probe(const KernelSession& session, uint32_t number,
                                                  const ProbeOptions& options);

}  // namespace vesta::agent
