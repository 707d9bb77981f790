// Checks of where this process runs: cgroup, namespaces, mounts, debug files.
#include <fmt/format.h>

#include <charconv>

#include "agent/doctor/doctor.h"
#include "base/units.h"

namespace vesta::agent {
namespace {

// The agent's own budget is 60 MB and 30 MB of maps.
constexpr uint64_t kComfortableBytes = 192ULL << 20;

// The path of this process in a hierarchy of /proc/self/cgroup: "0::/user.slice", "8:memory:/".
std::string cgroup_path(const std::string& text, std::string_view controller) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second != std::string_view::npos &&
        line.substr(first + 1, second - first - 1) == controller) {
      const std::string_view path = line.substr(second + 1);
      return path == "/" ? std::string() : std::string(path);
    }
    at = end + 1;
  }
  return {};
}

std::optional<uint64_t> number(const std::optional<std::string>& text) {
  uint64_t value = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc()) return std::nullopt;  // "max"
  return value;
}

std::string container_kind(const SystemView& system) {
  if (system.exists("/.dockerenv")) return "docker";
  if (system.exists("/run/.containerenv")) return "podman";
  const std::string cgroup =
      system.read("/proc/1/cgroup").value_or("") + system.read("/proc/self/cgroup").value_or("");
  if (system.kernel().environment("KUBERNETES_SERVICE_HOST") ||
      cgroup.find("kubepods") != std::string::npos) {
    return "kubernetes";
  }
  if (cgroup.find("/docker") != std::string::npos) return "docker";
  if (cgroup.find("/lxc") != std::string::npos) return "lxc";
  if (const auto container = system.kernel().environment("container")) return *container;
  return {};
}

bool in_first_pid_namespace(const SystemView& system) {
  // PROC_PID_INIT_INO, the same on every kernel.
  return system.link("/proc/self/ns/pid").value_or("pid:[4026531836]") == "pid:[4026531836]";
}

std::string debuginfod_of(const SystemView& system) {
  const std::string release = "\n" + system.read("/etc/os-release").value_or("");
  if (release.find("\nID=debian") != std::string::npos) return "https://debuginfod.debian.net";
  if (release.find("\nID=ubuntu") != std::string::npos) return "https://debuginfod.ubuntu.com";
  if (release.find("\nID=fedora") != std::string::npos) {
    return "https://debuginfod.fedoraproject.org";
  }
  return "https://debuginfod.elfutils.org";
}

}  // namespace

Check check_cgroup(const SystemView& system) {
  Check check{"cgroup", CheckStatus::kPass, {}, {}};
  const std::string membership = system.read("/proc/self/cgroup").value_or("");
  std::optional<uint64_t> limit;
  if (system.exists("/sys/fs/cgroup/cgroup.controllers")) {
    check.message = "version 2";
    // In a container's own namespace the limit lies at the top.
    limit = number(system.line("/sys/fs/cgroup" + cgroup_path(membership, "") + "/memory.max"));
    if (!limit) limit = number(system.line("/sys/fs/cgroup/memory.max"));
  } else if (system.exists("/sys/fs/cgroup")) {
    check.message = "version 1: containers are recognised by /proc/PID/cgroup";
    const std::string path = cgroup_path(membership, "memory");
    limit = number(system.line("/sys/fs/cgroup/memory" + path + "/memory.limit_in_bytes"));
  } else {
    check.status = CheckStatus::kWarn;
    check.message = "not mounted: memory limits are unknown";
    check.fix = "mount -t cgroup2 none /sys/fs/cgroup";
    return check;
  }
  // Version 1 says "no limit" as the largest multiple of a page.
  if (!limit || *limit >= 1ULL << 60) {
    check.message += "; no memory limit";
    return check;
  }
  check.message +=
      "; at most " + format_value(static_cast<int64_t>(*limit), "bytes") + " of memory";
  if (*limit < kComfortableBytes) {
    check.status = CheckStatus::kWarn;
    check.message += ", BPF maps included: too little for a host with many programs";
    check.fix = "give it 192 MiB or more (MemoryMax=192M, --memory 192m)";
  }
  return check;
}

Check check_pid_namespace(const SystemView& system) {
  Check check{"pid_namespace", CheckStatus::kPass, "the host's", {}};
  if (in_first_pid_namespace(system)) return check;
  check.status = CheckStatus::kWarn;
  check.message = "not the host's: processes outside it have no names";
  check.fix = "docker run --pid=host, or hostPID: true in the pod";
  return check;
}

Check check_container(const SystemView& system) {
  const std::string kind = container_kind(system);
  Check check{"container", CheckStatus::kPass, kind.empty() ? "none" : kind, {}};
  if (kind.empty() || in_first_pid_namespace(system)) return check;
  check.status = CheckStatus::kWarn;
  check.message += ": Vesta cannot see what other containers hide";
  check.fix = "docker run --privileged --pid=host -v /sys:/sys:ro, or run Vesta on the host itself";
  return check;
}

Check check_tracefs(const SystemView& system) {
  Check check{"tracefs", CheckStatus::kPass, {}, {}};
  // Only root may look inside, but everyone may see the mount. "none /sys/kernel/tracing tracefs …"
  const std::string mounts = system.read("/proc/self/mounts").value_or("");
  if (const size_t type = mounts.find(" tracefs "); type != std::string::npos) {
    const size_t folder = mounts.rfind(' ', type - 1) + 1;
    check.message = mounts.substr(folder, type - folder);
    return check;
  }
  check.status = CheckStatus::kWarn;
  check.message = "not mounted: CPU profiling does not need it, named tracepoints do";
  check.fix = "sudo mount -t tracefs tracefs /sys/kernel/tracing";
  return check;
}

Check check_debug_info(const SystemView& system) {
  Check check{"debug_info", CheckStatus::kPass, {}, {}};
  const std::string urls = system.kernel().environment("DEBUGINFOD_URLS").value_or("");
  const bool files = system.exists("/usr/lib/debug/.build-id");
  if (files) check.message = "/usr/lib/debug/.build-id";
  if (!urls.empty()) check.message += (files ? ", " : "") + ("DEBUGINFOD_URLS=" + urls);
  if (!check.message.empty()) return check;
  check.status = CheckStatus::kWarn;
  check.message =
      "neither /usr/lib/debug/.build-id nor DEBUGINFOD_URLS: stripped programs show no inlined "
      "functions, no lines, and only exported names";
  check.fix =
      "install the -dbgsym packages of the programs to profile, or: export DEBUGINFOD_URLS=" +
      debuginfod_of(system);
  return check;
}

}  // namespace vesta::agent
