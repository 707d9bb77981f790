// Who is sampled when not the whole host is: processes with what they fork, single threads, whoever
// is in a cgroup. Checks that they are there, hands them to the session, and tells when the last of
// them has ended. One owner thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "agent/kernel/kernel_session.h"
#include "agent/process/cgroup_folder.h"
#include "agent/stream/sample_resolver.h"
#include "base/result.h"

namespace vesta::agent {

struct TargetOptions {
  std::vector<uint32_t> pids;  // with what they fork
  // Processes that have yet to run their program: as `pids`, but only from then on.
  std::vector<uint32_t> held_pids;
  std::vector<uint32_t> tids;        // these threads alone
  std::vector<std::string> cgroups;  // folders; all in and below them, those that join later too
  bool empty() const {
    return pids.empty() && held_pids.empty() && tids.empty() && cgroups.empty();
  }
};

class SamplingTargets {
 public:
  SamplingTargets() = default;
  // kNotFound with what is not there, kUsage when nothing is named.
  static Result<SamplingTargets> find(const TargetOptions& options);

  // Cgroups that the kernel can tell by itself; the others are looked at by follow().
  std::vector<int> kernel_cgroups() const;
  // Known now: worth being prepared for.
  std::vector<uint32_t> processes() const;
  Status hand_to(KernelSession& session) const;

  // Before the first sample: leaves out those that have ended since find(). kNotFound when that
  // leaves nothing.
  Status drop_ended(KernelSession& session, SampleResolver& resolver);
  const std::vector<uint32_t>& ended_early() const { return ended_early_; }

  // About once per second: who has joined a cgroup of version 1.
  void follow(KernelSession& session, SampleResolver& resolver);
  // Whether nothing is left that could be sampled. Cheap while something is.
  bool have_ended(const KernelSession& session);

 private:
  struct TargetProcess {
    uint32_t pid = 0;
    uint64_t start_ticks = 0;
    bool is_held = false;
  };
  Status add_process(uint32_t pid, bool is_held);
  struct TargetThread {
    uint32_t pid = 0;
    uint32_t tid = 0;
  };
  bool has_living_process(const KernelSession& session);

  std::vector<TargetProcess> processes_;
  std::vector<TargetThread> threads_;
  std::vector<CgroupFolder> cgroups_;
  std::vector<uint32_t> ended_early_;
  uint32_t witness_ = 0;  // a process that was there at the last look
};

}  // namespace vesta::agent
