// Checks of what the kernel is and what it can do.
#include <fmt/format.h>

#include <charconv>

#include "agent/doctor/doctor.h"

namespace vesta::agent {
namespace {

// bpf_loop, which the unwinder is built on.
constexpr KernelVersion kOldestKernel{5, 17, 0};

std::optional<KernelVersion> parse_version(std::string_view text) {
  KernelVersion version;
  for (int* part : {&version.major, &version.minor, &version.patch}) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *part);
    if (error != std::errc()) {
      if (part == &version.patch) break;  // "6.18-rc1"
      return std::nullopt;
    }
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (!text.starts_with('.')) break;
    text.remove_prefix(1);
  }
  return version;
}

std::string text_of(const KernelVersion& version) {
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

// Reading user memory from a sampling interrupt could dead-lock the whole machine: mended in
// 6.1.36, 6.3.10 and 6.4.
bool may_freeze(const KernelVersion& v) {
  const auto series = [&](int minor) { return v.major == 6 && v.minor == minor; };
  return (v.major == 5 && v.minor == 19) || series(0) || series(2) || (series(1) && v.patch < 36) ||
         (series(3) && v.patch < 10);
}

struct ProgramText {
  const char* name;
  const char* title;
  CheckStatus when_refused;
  const char* use;
};

ProgramText text_of(BpfProgramKind kind) {
  switch (kind) {
    case BpfProgramKind::kPerfEvent:
      return {"bpf_perf_event", "perf_event programs", CheckStatus::kFail,
              "CPU profiling needs them"};
    case BpfProgramKind::kTracingTracepoint:
      return {"bpf_tp_btf", "tp_btf programs", CheckStatus::kWarn,
              "CPU profiling does not need them; off-CPU, wall and block profiling do"};
    case BpfProgramKind::kTaskIterator:
      return {"bpf_iter_task", "programs that look at all threads", CheckStatus::kWarn,
              "CPU profiling does not need them; off-CPU, wall and block profiling and vesta dump "
              "do"};
    case BpfProgramKind::kRawTracepoint:
      return {"bpf_raw_tp", "raw_tp programs", CheckStatus::kWarn,
              "CPU profiling does not need them"};
    case BpfProgramKind::kUprobeMulti:
      return {"bpf_uprobe_multi", "uprobe_multi programs", CheckStatus::kWarn,
              "CPU profiling does not need them; user-space probes do"};
  }
  return {"bpf", "programs", CheckStatus::kWarn, ""};
}

}  // namespace

std::optional<KernelVersion> kernel_version(const SystemView& system) {
  const Kernel::Name name = system.kernel().name();
  // "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)": uname -r of that is 6.1.0-18-amd64.
  constexpr std::string_view kDebian = "Debian ";
  if (const size_t at = name.version.find(kDebian); at != std::string::npos) {
    if (auto v = parse_version(std::string_view(name.version).substr(at + kDebian.size()))) {
      return v;
    }
  }
  // "Ubuntu 6.2.0-39.40~22.04.1-generic 6.2.16"
  if (const auto signature = system.line("/proc/version_signature")) {
    const size_t at = signature->rfind(' ');
    if (at != std::string::npos) {
      if (auto v = parse_version(std::string_view(*signature).substr(at + 1))) return v;
    }
  }
  return parse_version(name.release);
}

Check check_architecture(const SystemView& system) {
  Check check{"architecture", CheckStatus::kPass, system.kernel().name().machine, {}};
  if (check.message == "x86_64") return check;
  check.status = CheckStatus::kFail;
  check.message += ": Vesta profiles x86-64 only";
  check.fix = "use an x86-64 machine; reports on existing profiles work everywhere";
  return check;
}

Check check_kernel_version(const SystemView& system) {
  Check check{"kernel_version", CheckStatus::kPass, system.kernel().name().release, {}};
  const auto version = kernel_version(system);
  if (!version) {
    check.status = CheckStatus::kWarn;
    check.message += ": not a version number";
    check.fix = "check that the kernel is 5.17 or newer";
    return check;
  }
  if (!check.message.starts_with(text_of(*version))) {
    check.message += " (Linux " + text_of(*version) + ")";
  }
  if (*version < kOldestKernel) {
    check.status = CheckStatus::kFail;
    check.message += ": older than 5.17, the first with bpf_loop";
    check.fix = "boot kernel 5.17 or newer, such as Debian 12's 6.1";
  } else if (may_freeze(*version)) {
    check.status = CheckStatus::kFail;
    check.message +=
        ": kernels 5.19, 6.0, 6.1 before 6.1.36, 6.2 and 6.3 before 6.3.10 can freeze when a "
        "profiler reads user memory";
    check.fix =
        "update to 6.1.36, 6.3.10, 6.4 or newer; ignore this if your distribution has backported "
        "the fix (copy_from_user_nofault)";
  }
  return check;
}

Check check_btf(const SystemView& system) {
  Check check{"btf", CheckStatus::kPass, "/sys/kernel/btf/vmlinux", {}};
  const auto bytes = system.read("/sys/kernel/btf/vmlinux");
  if (bytes && bytes->starts_with("\x9f\xeb")) return check;
  check.status = CheckStatus::kFail;
  check.message +=
      bytes ? " contains no BTF" : " is missing: the kernel does not describe its types";
  check.fix =
      "boot a kernel with CONFIG_DEBUG_INFO_BTF=y (Debian's has it); in a container, mount the "
      "host's /sys";
  return check;
}

Check check_bpf_program(const SystemView& system, BpfProgramKind kind) {
  const ProgramText text = text_of(kind);
  Check check{text.name, CheckStatus::kPass, fmt::format("{} load", text.title), {}};
  const int error = system.kernel().load_program(kind);
  if (error == 0) return check;
  check.status = text.when_refused;
  check.message = fmt::format("{} do not load: {}; {}", text.title, errno_text(error), text.use);
  const Error explained = permission_error("load BPF programs", error, system.capabilities());
  if (explained.code == ErrorCode::kPermission) {
    check.fix = explained.hint;
  } else if (kind == BpfProgramKind::kUprobeMulti) {
    check.fix = "boot kernel 6.6 or newer";
  } else {
    check.fix = "boot a kernel with CONFIG_BPF_SYSCALL=y and CONFIG_BPF_EVENTS=y";
  }
  return check;
}

Check check_task_storage(const SystemView& system) {
  Check check{"bpf_task_storage", CheckStatus::kPass, "programs can keep data about threads", {}};
  const int error = system.kernel().make_task_storage();
  if (error == 0) return check;
  check.status = CheckStatus::kWarn;
  check.message = fmt::format(
      "programs cannot keep data about threads: {}; CPU profiling does not need it; off-CPU, wall "
      "and block profiling do",
      errno_text(error));
  const Error explained = permission_error("create BPF maps", error, system.capabilities());
  check.fix = explained.code == ErrorCode::kPermission
                  ? explained.hint
                  : "boot kernel 5.11 or newer with CONFIG_BPF_SYSCALL=y";
  return check;
}

Check check_hardware_counters(const SystemView& system) {
  Check check{"hardware_counters", CheckStatus::kPass, "the CPU counts cycles", {}};
  const int error = system.kernel().open_hardware_cycles();
  if (error == 0) return check;
  check.status = CheckStatus::kWarn;
  check.message = fmt::format(
      "no hardware counters: {}; samples come from the kernel's clock, which cannot see code that "
      "runs with interrupts disabled",
      errno_text(error));
  check.fix = error == EACCES || error == EPERM
                  ? permission_error("count cycles", error, system.capabilities()).hint
                  : "on a virtual machine, enable the virtual PMU; otherwise ignore this";
  return check;
}

Check check_lockdown(const SystemView& system) {
  Check check{"lockdown", CheckStatus::kPass, {}, {}};
  const auto modes = system.line("/sys/kernel/security/lockdown");
  if (!modes) {
    check.message = "unknown: the kernel has no lockdown, or securityfs is not mounted";
  } else if (modes->find("[confidentiality]") != std::string::npos) {
    check.status = CheckStatus::kFail;
    check.message = "confidentiality mode: programs cannot read kernel memory";
    check.fix = "boot without lockdown=confidentiality; lockdown=integrity is fine";
  } else if (modes->find("[integrity]") != std::string::npos) {
    check.message = "integrity mode, which allows profiling";
  } else {
    check.message = "off";
  }
  return check;
}

Check check_kernel_symbols(const SystemView& system) {
  Check check{"kernel_symbols", CheckStatus::kPass, "/proc/kallsyms shows addresses", {}};
  const auto text = system.read("/proc/kallsyms");
  if (!text || text->empty()) {
    check.status = CheckStatus::kWarn;
    check.message = "cannot read /proc/kallsyms: kernel functions have no names";
    check.fix = "boot a kernel with CONFIG_KALLSYMS=y, and check that /proc is mounted";
    return check;
  }
  // The very first symbols can be per-CPU offsets, which begin at zero.
  for (size_t at = 0; at < text->size(); at = text->find('\n', at) + 1) {
    const size_t digit = text->find_first_not_of('0', at);
    if (digit != std::string::npos && (*text)[digit] != ' ') return check;
    if (text->find('\n', at) == std::string::npos) break;
  }
  // kernel/ksyms_common.c: 0 shows them where perf_event_paranoid is 1 or less, else and with 1 to
  // CAP_SYSLOG, 2 to nobody.
  const std::string restriction = system.line("/proc/sys/kernel/kptr_restrict").value_or("unknown");
  check.status = CheckStatus::kWarn;
  check.message = fmt::format(
      "/proc/kallsyms shows no addresses (kernel.kptr_restrict = {}, kernel.perf_event_paranoid = "
      "{}, {} CAP_SYSLOG): kernel functions have no names",
      restriction, system.line("/proc/sys/kernel/perf_event_paranoid").value_or("unknown"),
      system.capabilities().has(Capability::kSyslog) ? "with" : "without");
  check.fix = restriction == "2"
                  ? "sudo sysctl -w kernel.kptr_restrict=1, and run with sudo or CAP_SYSLOG"
                  : how_to_grant_capabilities();
  return check;
}

Check check_clock_source(const SystemView& system) {
  constexpr const char* kFile = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  const auto source = system.line(kFile);
  Check check{"clock_source", CheckStatus::kPass, source.value_or("unknown"), {}};
  for (const std::string_view slow : {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"}) {
    if (check.message != slow) continue;
    check.status = CheckStatus::kWarn;
    check.message += ": reading the time is slow, and every sample does it";
    check.fix =
        "boot with tsc=reliable if the CPU's counter is reliable; dmesg says why the kernel does "
        "not use it";
    break;
  }
  return check;
}

}  // namespace vesta::agent
