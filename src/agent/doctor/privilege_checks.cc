// Checks of what this process may do.
#include <fmt/format.h>

#include <array>
#include <cerrno>

#include "agent/doctor/doctor.h"
#include "base/units.h"

namespace vesta::agent {
namespace {

struct CapabilityUse {
  Capability capability;
  CheckStatus when_missing;
  const char* cost;
};

constexpr std::array<CapabilityUse, 5> kCapabilities = {{
    {Capability::kBpf, CheckStatus::kFail, "BPF programs cannot be loaded"},
    {Capability::kPerfmon, CheckStatus::kFail, "other processes and the kernel cannot be sampled"},
    {Capability::kSysPtrace, CheckStatus::kWarn,
     "processes of other users have incomplete stacks and no names"},
    {Capability::kDacReadSearch, CheckStatus::kWarn,
     "programs that only their owner may read have no names"},
    {Capability::kCheckpointRestore, CheckStatus::kWarn,
     "programs replaced or deleted while running have no names"},
}};

std::string text_of(uint64_t bytes) {
  return bytes == Kernel::kUnlimited ? "unlimited"
                                     : format_value(static_cast<int64_t>(bytes), "bytes");
}

}  // namespace

Check check_capabilities(const SystemView& system) {
  Check check{"capabilities", CheckStatus::kPass, "none is missing", {}};
  const CapabilitySet set = system.capabilities();
  std::string missing;
  for (const CapabilityUse& use : kCapabilities) {
    if (set.has(use.capability)) continue;
    if (use.when_missing == CheckStatus::kFail || check.status == CheckStatus::kPass) {
      check.status = use.when_missing;
    }
    missing += fmt::format("{}{} is missing: {}", missing.empty() ? "" : "; ",
                           name_of(use.capability), use.cost);
  }
  if (missing.empty()) return check;
  check.message = missing;
  check.fix = how_to_grant_capabilities();
  return check;
}

Check check_perf_events(const SystemView& system) {
  const std::string paranoid =
      system.line("/proc/sys/kernel/perf_event_paranoid").value_or("unknown");
  Check check{
      "perf_events",
      CheckStatus::kPass,
      fmt::format("the CPU clock can be opened (kernel.perf_event_paranoid = {})", paranoid),
      {}};
  const int error = system.kernel().open_cpu_clock();
  if (error == 0) return check;
  check.status = CheckStatus::kFail;
  check.message = fmt::format("cannot open the CPU clock: {} (kernel.perf_event_paranoid = {})",
                              errno_text(error), paranoid);
  if (error != EACCES && error != EPERM) {
    check.fix = "boot a kernel with CONFIG_PERF_EVENTS=y";
  } else if (!system.capabilities().has(Capability::kPerfmon)) {
    check.message += "; CAP_PERFMON is missing";
    check.fix = how_to_grant_capabilities();
  } else {
    check.fix =
        "CAP_PERFMON is granted, so a seccomp filter or a security module refuses; in a container, "
        "use --security-opt seccomp=unconfined";
  }
  return check;
}

Check check_seccomp(const SystemView& system) {
  Check check{"seccomp", CheckStatus::kPass, "no filter", {}};
  const std::string status = system.read("/proc/self/status").value_or("");
  if (status.find("\nSeccomp:\t2") == std::string::npos) return check;
  const int bpf = system.kernel().load_program(BpfProgramKind::kPerfEvent);
  const int perf = system.kernel().open_cpu_clock();
  if (bpf == 0 && perf == 0) {
    check.message = "a filter is active, and allows bpf and perf_event_open";
    return check;
  }
  check.status = CheckStatus::kWarn;
  check.message = "a filter is active, and may block bpf or perf_event_open";
  check.fix =
      "allow bpf, perf_event_open and process_vm_readv in the profile; docker run: --security-opt "
      "seccomp=unconfined";
  return check;
}

Check check_locked_memory(const SystemView& system) {
  const Kernel::Limit limit = system.kernel().locked_memory();
  Check check{"locked_memory", CheckStatus::kPass, text_of(limit.soft), {}};
  const auto version = kernel_version(system);
  if (!version || *version >= KernelVersion{5, 11, 0}) {
    check.message += ": no effect; since Linux 5.11 BPF memory counts against the cgroup";
  } else if (limit.soft != Kernel::kUnlimited) {
    check.status = CheckStatus::kWarn;
    check.message += ": before Linux 5.11 this limits BPF maps";
    check.fix = "ulimit -l unlimited, or LimitMEMLOCK=infinity in the unit";
  }
  return check;
}

Check check_open_files(const SystemView& system) {
  constexpr uint64_t kEnough = 1024;
  const Kernel::Limit limit = system.kernel().open_files();
  const auto text = [](uint64_t count) {
    return count == Kernel::kUnlimited ? "unlimited" : std::to_string(count);
  };
  Check check{"open_files",
              CheckStatus::kPass,
              fmt::format("{} (hard limit {})", text(limit.soft), text(limit.hard)),
              {}};
  if (limit.soft >= kEnough) return check;
  check.status = CheckStatus::kWarn;
  check.message += ": too few for a busy machine, where each CPU and each BPF map needs one";
  check.fix = limit.hard >= kEnough ? "ulimit -n " + text(limit.hard)
                                    : "LimitNOFILE=65536 in the unit, or in limits.conf";
  return check;
}

}  // namespace vesta::agent
