#include "agent/doctor/doctor.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace vesta::agent {
namespace {

constexpr size_t kMaxReadBytes = 64 * 1024;

}  // namespace

std::optional<std::string> SystemView::read(const std::string& path) const {
  std::ifstream in(root_ + path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text(kMaxReadBytes, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return std::nullopt;
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

std::optional<std::string> SystemView::line(const std::string& path) const {
  auto text = read(path);
  if (!text) return std::nullopt;
  text->resize(std::min(text->find('\n'), text->size()));
  text->erase(0, std::min(text->find_first_not_of(" \t"), text->size()));
  text->resize(text->find_last_not_of(" \t\r") + 1);
  return text;
}

std::optional<std::string> SystemView::link(const std::string& path) const {
  char target[4096];
  const ssize_t bytes = readlink((root_ + path).c_str(), target, sizeof(target));
  if (bytes < 0) return std::nullopt;
  return std::string(target, static_cast<size_t>(bytes));
}

bool SystemView::exists(const std::string& path) const {
  struct stat info {};
  return stat((root_ + path).c_str(), &info) == 0;
}

CapabilitySet SystemView::capabilities() const {
  const auto status = read("/proc/self/status");
  if (!status) return {};
  return CapabilitySet::from_status(*status).value_or(CapabilitySet());
}

std::vector<Check> examine(const SystemView& system) {
  return {
      check_architecture(system),
      check_kernel_version(system),
      check_btf(system),
      check_capabilities(system),
      check_bpf_program(system, BpfProgramKind::kPerfEvent),
      check_bpf_program(system, BpfProgramKind::kTracingTracepoint),
      check_bpf_program(system, BpfProgramKind::kTaskIterator),
      check_task_storage(system),
      check_bpf_program(system, BpfProgramKind::kRawTracepoint),
      check_bpf_program(system, BpfProgramKind::kUprobeMulti),
      check_perf_events(system),
      check_hardware_counters(system),
      check_lockdown(system),
      check_seccomp(system),
      check_kernel_symbols(system),
      check_clock_source(system),
      check_locked_memory(system),
      check_open_files(system),
      check_cgroup(system),
      check_pid_namespace(system),
      check_container(system),
      check_tracefs(system),
      check_debug_info(system),
  };
}

}  // namespace vesta::agent
