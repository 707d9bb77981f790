#include "agent/stream/sampling_targets.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "agent/process/proc_files.h"

namespace vesta::agent {
namespace {

constexpr const char* kProc = "/proc";

bool is_there(uint32_t pid, uint32_t tid) {
  return ::access(fmt::format("{}/{}/task/{}", kProc, pid, tid).c_str(), F_OK) == 0;
}

// The process of a thread, 0 when there is no such thread.
uint32_t process_of_thread(uint32_t tid) {
  const auto dir = ProcDir::open(kProc, tid);
  if (!dir.ok()) return 0;
  const auto status = dir->read("status");
  if (!status.ok()) return 0;
  constexpr std::string_view kKey = "\nTgid:\t";
  const size_t at = status->find(kKey);
  if (at == std::string::npos) return 0;
  uint32_t pid = 0;
  const char* begin = status->data() + at + kKey.size();
  (void)std::from_chars(begin, status->data() + status->size(), pid);
  return pid;
}

Error missing_process(uint32_t pid) {
  if (ProcDir::open(kProc, pid).ok()) {
    return {ErrorCode::kNotFound, fmt::format("process {} has ended (zombie)", pid),
            "try ps -e; a zombie uses no CPU time"};
  }
  return {ErrorCode::kNotFound, fmt::format("no process {}", pid),
          "try ps -e, or vesta record -a for all processes"};
}

Error missing_thread(uint32_t tid) {
  return {ErrorCode::kNotFound, fmt::format("no thread {}", tid),
          "try ps -eL (column LWP), or -p for processes"};
}

}  // namespace

Result<SamplingTargets> SamplingTargets::find(const TargetOptions& options) {
  if (options.empty()) return Error{ErrorCode::kUsage, "no targets to sample", ""};
  SamplingTargets out;
  for (const uint32_t pid : options.pids) VESTA_TRY(out.add_process(pid, false));
  for (const uint32_t pid : options.held_pids) VESTA_TRY(out.add_process(pid, true));
  for (const uint32_t tid : options.tids) {
    const uint32_t pid = process_of_thread(tid);
    if (pid == 0) return missing_thread(tid);
    out.threads_.push_back({pid, tid});
  }
  for (const std::string& path : options.cgroups) {
    VESTA_ASSIGN(CgroupFolder folder, CgroupFolder::open(path));
    out.cgroups_.push_back(std::move(folder));
  }
  return out;
}

Status SamplingTargets::add_process(uint32_t pid, bool is_held) {
  const std::optional<uint64_t> since = running_since(kProc, pid);
  if (!since) return missing_process(pid);
  processes_.push_back({pid, *since, is_held});
  return {};
}

std::vector<int> SamplingTargets::kernel_cgroups() const {
  std::vector<int> fds;
  for (const CgroupFolder& cgroup : cgroups_) {
    if (cgroup.is_version_2()) fds.push_back(cgroup.fd());
  }
  return fds;
}

std::vector<uint32_t> SamplingTargets::processes() const {
  std::vector<uint32_t> pids;
  for (const TargetProcess& process : processes_) pids.push_back(process.pid);
  for (const TargetThread& thread : threads_) pids.push_back(thread.pid);
  for (const CgroupFolder& cgroup : cgroups_) {
    for (const uint32_t pid : cgroup.processes()) pids.push_back(pid);
  }
  std::ranges::sort(pids);
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

Status SamplingTargets::hand_to(KernelSession& session) const {
  for (const TargetProcess& process : processes_) {
    VESTA_TRY(process.is_held ? session.add_held_target(process.pid)
                              : session.add_target(process.pid));
  }
  for (const CgroupFolder& cgroup : cgroups_) {
    if (cgroup.is_version_2()) continue;
    for (const uint32_t pid : cgroup.processes()) VESTA_TRY(session.add_target(pid));
  }
  for (const TargetThread& thread : threads_)
    VESTA_TRY(session.add_target_thread(thread.pid, thread.tid));
  return {};
}

Status SamplingTargets::drop_ended(KernelSession& session, SampleResolver& resolver) {
  std::erase_if(processes_, [&](const TargetProcess& process) {
    if (running_since(kProc, process.pid) == process.start_ticks) return false;
    session.remove_target(process.pid);
    resolver.remove_target(process.pid);
    ended_early_.push_back(process.pid);
    return true;
  });
  if (!processes_.empty() || !have_ended(session)) return {};
  if (ended_early_.size() == 1) {
    return Error{ErrorCode::kNotFound,
                 fmt::format("process {} ended before recording began", ended_early_[0]),
                 "try vesta record -- COMMAND, which records a command from its first instruction"};
  }
  return Error{ErrorCode::kNotFound, "all processes to record ended before recording began",
               "try vesta record -- COMMAND, which records a command from its first instruction"};
}

void SamplingTargets::follow(KernelSession& session, SampleResolver& resolver) {
  for (const CgroupFolder& cgroup : cgroups_) {
    if (cgroup.is_version_2()) continue;
    for (const uint32_t pid : cgroup.processes()) {
      if (session.add_target(pid).ok()) resolver.add_target(pid);
    }
  }
}

bool SamplingTargets::has_living_process(const KernelSession& session) {
  if (witness_ != 0 && running_since(kProc, witness_)) return true;
  // The kernel notes who was forked by whom: no event that we read later can be lost here.
  for (const uint32_t pid : session.target_processes()) {
    if (!running_since(kProc, pid)) continue;
    witness_ = pid;
    return true;
  }
  witness_ = 0;
  return false;
}

bool SamplingTargets::have_ended(const KernelSession& session) {
  const auto is_alive = [](const TargetThread& thread) { return is_there(thread.pid, thread.tid); };
  const auto is_populated = [](const CgroupFolder& cgroup) {
    return cgroup.is_version_2() && cgroup.has_processes();
  };
  return std::ranges::none_of(threads_, is_alive) && !has_living_process(session) &&
         std::ranges::none_of(cgroups_, is_populated);
}

}  // namespace vesta::agent
