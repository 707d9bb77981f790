// Whether this machine lets Vesta profile, check by check, each with the exact way to mend it. A
// check is a function of a SystemView: files under a root folder, and a Kernel to try things out
// on. Nothing is changed on the machine. Not thread-safe, except for distinct views.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/doctor/kernel.h"
#include "agent/kernel/privileges.h"

namespace vesta::agent {

enum class CheckStatus { kPass, kWarn, kFail };

struct Check {
  std::string name;  // stable, for programs: "kernel_version"
  CheckStatus status = CheckStatus::kPass;
  std::string message;  // what was found, and what it means when it is not good
  std::string fix;      // what to do; empty when there is nothing to mend
};

class SystemView {
 public:
  // `root` goes before every path; empty for the machine itself. The kernel must outlive the view.
  SystemView(const Kernel& kernel, std::string root) : kernel_(kernel), root_(std::move(root)) {}

  const Kernel& kernel() const { return kernel_; }
  // The beginning of a file, at most 64 KiB; nothing when it cannot be read.
  std::optional<std::string> read(const std::string& path) const;
  // The first line of it, without spaces around.
  std::optional<std::string> line(const std::string& path) const;
  std::optional<std::string> link(const std::string& path) const;
  bool exists(const std::string& path) const;
  CapabilitySet capabilities() const;

 private:
  const Kernel& kernel_;
  std::string root_;
};

struct KernelVersion {
  int major = 0;
  int minor = 0;
  int patch = 0;
  friend auto operator<=>(const KernelVersion&, const KernelVersion&) = default;
};
// The version of the source that a kernel was built from: Debian and Ubuntu say it elsewhere than
// in uname -r. Nothing when no number is to be found.
std::optional<KernelVersion> kernel_version(const SystemView& system);

// Every check, in the order in which to mend things.
std::vector<Check> examine(const SystemView& system);

// The single ones, for tests.
Check check_architecture(const SystemView& system);
Check check_kernel_version(const SystemView& system);
Check check_btf(const SystemView& system);
Check check_capabilities(const SystemView& system);
Check check_bpf_program(const SystemView& system, BpfProgramKind kind);
Check check_task_storage(const SystemView& system);
Check check_perf_events(const SystemView& system);
Check check_hardware_counters(const SystemView& system);
Check check_lockdown(const SystemView& system);
Check check_seccomp(const SystemView& system);
Check check_kernel_symbols(const SystemView& system);
Check check_clock_source(const SystemView& system);
Check check_locked_memory(const SystemView& system);
Check check_open_files(const SystemView& system);
Check check_cgroup(const SystemView& system);
Check check_pid_namespace(const SystemView& system);
Check check_container(const SystemView& system);
Check check_tracefs(const SystemView& system);
Check check_debug_info(const SystemView& system);

}  // namespace vesta::agent
