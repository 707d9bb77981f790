// A second probe, for tests only: a sample whenever a thread of a target leaves a CPU. With it, tests
// run two probes in one session. Owns its BPF object; one thread at a time.
#pragma once

#include <bpf/libbpf.h>

#include <array>
#include <memory>

#include <switch_probe.skel.h>
#include "agent/kernel/bpf_log.h"
#include "agent/probes/probe.h"

namespace vesta::agent::test {

class SwitchProbe final : public Probe {
 public:
  static constexpr uint64_t kValue = 7;  // of each record

  static Result<std::unique_ptr<Probe>> load(const KernelSession& session, uint32_t number,
                                             const ProbeOptions& /*options*/) {
    auto probe = std::make_unique<SwitchProbe>();
    const BpfLog log;
    probe->skeleton_.reset(switch_probe_bpf__open());
    if (probe->skeleton_ == nullptr) return Error{ErrorCode::kIo, "cannot open the object", ""};
    VESTA_TRY(session.share_with(probe->skeleton_->obj, number));
    if (switch_probe_bpf__load(probe->skeleton_.get()) != 0)
      return Error{ErrorCode::kUnsupported, log.text(), ""};
    return std::unique_ptr<Probe>(std::move(probe));
  }

  const switch_probe_bpf& skeleton() const { return *skeleton_; }

  Status start() override {
    link_.reset(bpf_program__attach(skeleton_->progs.take_switch_sample));
    if (link_ == nullptr) return Error{ErrorCode::kIo, "cannot attach to sched_switch", ""};
    return {};
  }
  void stop() override { link_.reset(); }
  Status set_rate(uint32_t /*rate*/) override {
    return Error{ErrorCode::kUsage, "context switches have no rate", ""};
  }
  uint64_t period() const override { return kValue; }
  ProbeSource source() const override { return {"sched_switch", ""}; }
  KernelRunTime cost() const override { return {}; }

 private:
  struct Skeleton {
    void operator()(switch_probe_bpf* skeleton) const { switch_probe_bpf__destroy(skeleton); }
  };
  struct Link {
    void operator()(bpf_link* link) const { bpf_link__destroy(link); }
  };
  std::unique_ptr<switch_probe_bpf, Skeleton> skeleton_;
  std::unique_ptr<bpf_link, Link> link_;
};

inline constexpr std::array<ProbeColumn, 1> kSwitchColumns = {{{"switches", "count"}}};
inline constexpr ProbeKind kSwitchKind = {
    .name = "switches",
    .title = "switches",
    .profile = "switches",
    .columns = kSwitchColumns,
    .load = SwitchProbe::load,
};

}  // namespace vesta::agent::test
