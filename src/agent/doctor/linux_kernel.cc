#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "agent/doctor/kernel.h"
#include "base/file.h"

namespace vesta::agent {
namespace {

// Newer than the headers of Debian 12: BPF_TRACE_UPROBE_MULTI.
constexpr auto kUprobeMultiAttach = static_cast<bpf_attach_type>(48);

// The part of union bpf_attr that BPF_LINK_CREATE reads for uprobe_multi, linux/bpf.h of 6.6.
struct UprobeMultiLink {
  uint32_t program;
  uint32_t target;
  uint32_t attach_type;
  uint32_t flags;
  uint64_t path;
  uint64_t offsets;
  uint64_t reference_counters;
  uint64_t cookies;
  uint32_t count;
  uint32_t multi_flags;
  uint32_t pid;
  uint32_t padding;
};

// "return 0"
UniqueFd load(bpf_prog_type type, bpf_prog_load_opts* options) {
  bpf_insn program[2] = {};
  program[0].code = BPF_ALU64 | BPF_MOV | BPF_K;
  program[1].code = BPF_JMP | BPF_EXIT;
  return UniqueFd(bpf_prog_load(type, "vesta_doctor", "GPL", program, 2, options));
}

int ignore_messages(libbpf_print_level /*level*/, const char* /*format*/, va_list /*arguments*/) {
  return 0;
}

// A kernel that has uprobe_multi looks at the path, and refuses the root folder with EBADF.
int try_uprobe_multi(int program) {
  const uint64_t offset = 0;
  const char* path = "/";
  UprobeMultiLink link{};
  link.program = static_cast<uint32_t>(program);
  link.attach_type = kUprobeMultiAttach;
  link.path = reinterpret_cast<uint64_t>(path);
  link.offsets = reinterpret_cast<uint64_t>(&offset);
  link.count = 1;
  const UniqueFd fd(static_cast<int>(syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link))));
  const int error = errno;
  return fd.valid() || error == EBADF ? 0 : error;
}

int try_event(uint32_t type, uint64_t config, pid_t pid, int cpu) {
  perf_event_attr attribute{};
  attribute.size = sizeof(attribute);
  attribute.type = type;
  attribute.config = config;
  attribute.disabled = 1;
  attribute.exclude_idle = 1;
  const UniqueFd fd(static_cast<int>(
      syscall(SYS_perf_event_open, &attribute, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
  return fd.valid() ? 0 : errno;
}

Kernel::Limit limit_of(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return {};
  return {limit.rlim_cur == RLIM_INFINITY ? Kernel::kUnlimited : limit.rlim_cur,
          limit.rlim_max == RLIM_INFINITY ? Kernel::kUnlimited : limit.rlim_max};
}

}  // namespace

Kernel::Name LinuxKernel::name() const {
  utsname info{};
  if (uname(&info) != 0) return {};
  return {info.release, info.version, info.machine};
}

int LinuxKernel::load_program(BpfProgramKind kind) const {
  // libbpf would print its own guesses ("ulimit -l"), which are wrong on every kernel we support.
  const libbpf_print_fn_t before = libbpf_set_print(ignore_messages);
  bpf_prog_load_opts options{};
  options.sz = sizeof(options);
  bpf_prog_type type = BPF_PROG_TYPE_PERF_EVENT;
  int error = 0;
  switch (kind) {
    case BpfProgramKind::kPerfEvent:
      break;
    case BpfProgramKind::kRawTracepoint:
      type = BPF_PROG_TYPE_RAW_TRACEPOINT;
      break;
    case BpfProgramKind::kTracingTracepoint: {
      type = BPF_PROG_TYPE_TRACING;
      options.expected_attach_type = BPF_TRACE_RAW_TP;
      const int id = libbpf_find_vmlinux_btf_id("sched_switch", BPF_TRACE_RAW_TP);
      if (id < 0) error = -id;
      options.attach_btf_id = id < 0 ? 0 : static_cast<uint32_t>(id);
      break;
    }
    case BpfProgramKind::kTaskIterator: {
      type = BPF_PROG_TYPE_TRACING;
      options.expected_attach_type = BPF_TRACE_ITER;
      const int id = libbpf_find_vmlinux_btf_id("task", BPF_TRACE_ITER);
      if (id < 0) error = -id;
      options.attach_btf_id = id < 0 ? 0 : static_cast<uint32_t>(id);
      break;
    }
    case BpfProgramKind::kUprobeMulti:
      type = BPF_PROG_TYPE_KPROBE;
      options.expected_attach_type = kUprobeMultiAttach;
      break;
  }
  if (error == 0) {
    const UniqueFd fd = load(type, &options);
    error = fd.valid() ? 0 : errno;
    if (error == 0 && kind == BpfProgramKind::kUprobeMulti) error = try_uprobe_multi(fd.get());
  }
  libbpf_set_print(before);
  return error;
}

int LinuxKernel::make_task_storage() const {
  const libbpf_print_fn_t before = libbpf_set_print(ignore_messages);
  // The kernel wants to know the types of key and value.
  const std::unique_ptr<btf, decltype(&btf__free)> types(btf__new_empty(), btf__free);
  const int number =
      types == nullptr ? -ENOMEM : btf__add_int(types.get(), "int", 4, BTF_INT_SIGNED);
  int error = number < 0 ? -number : -btf__load_into_kernel(types.get());
  if (error == 0) {
    bpf_map_create_opts options{};
    options.sz = sizeof(options);
    options.btf_fd = static_cast<uint32_t>(btf__fd(types.get()));
    options.btf_key_type_id = static_cast<uint32_t>(number);
    options.btf_value_type_id = static_cast<uint32_t>(number);
    options.map_flags = BPF_F_NO_PREALLOC;
    const UniqueFd fd(bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "vesta_doctor", 4, 4, 0, &options));
    error = fd.valid() ? 0 : errno;
  }
  libbpf_set_print(before);
  return error;
}

int LinuxKernel::open_cpu_clock() const {
  // CPU 0 may be off-line or not ours; the one that we run on exists.
  return try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, -1, sched_getcpu());
}

int LinuxKernel::open_hardware_cycles() const {
  return try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, -1, sched_getcpu());
}

Kernel::Limit LinuxKernel::locked_memory() const {
  return limit_of(RLIMIT_MEMLOCK);
}
Kernel::Limit LinuxKernel::open_files() const {
  return limit_of(RLIMIT_NOFILE);
}

std::optional<std::string> LinuxKernel::environment(const std::string& name) const {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

}  // namespace vesta::agent
