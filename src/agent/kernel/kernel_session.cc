#include "agent/kernel/kernel_session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <session.skel.h>
#include <shared/targets.h>
#include "agent/kernel/bpf_log.h"
#include "agent/kernel/privileges.h"

namespace vesta::agent {
namespace {

constexpr const char* kConstants = ".rodata.session";
constexpr std::string_view kOwnPrograms = "load the programs that all probes share";

Error target_error(const std::string& what, int error_number) {
  return {ErrorCode::kLimit,
          fmt::format("cannot add {} to the targets: {}", what, std::strerror(error_number)), ""};
}

}  // namespace

Error load_error(std::string_view what, int error_number, const std::string& log) {
  // Without CAP_PERFMON the verifier does not offer some helpers, which reads as a bad program.
  const bool is_refused = error_number == EINVAL && !missing_capabilities().empty();
  Error error = permission_error(std::string(what), is_refused ? EPERM : error_number);
  if (error.code != ErrorCode::kPermission && !log.empty()) error.message += "\n" + log;
  return error;
}

KernelRunTime run_time_of(const bpf_object* object) {
  KernelRunTime sum;
  for (bpf_program* program = bpf_object__next_program(object, nullptr); program != nullptr;
       program = bpf_object__next_program(object, program)) {
    bpf_prog_info info{};
    uint32_t bytes = sizeof(info);
    if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) != 0) continue;
    sum.ns += info.run_time_ns;
    sum.runs += info.run_cnt;
  }
  return sum;
}

void KernelSession::Skeleton::operator()(session_bpf* skeleton) const {
  session_bpf__destroy(skeleton);
}
void KernelSession::Link::operator()(bpf_link* link) const {
  bpf_link__destroy(link);
}

KernelSession::~KernelSession() = default;

Result<std::unique_ptr<KernelSession>> KernelSession::load(const KernelSessionOptions& options) {
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    return Error{
        ErrorCode::kUnsupported,
        "this kernel does not describe its types (no /sys/kernel/btf/vmlinux)",
        "use a kernel built with CONFIG_DEBUG_INFO_BTF, as the large distributions ship it"};
  }
  if (options.cgroups.size() > VESTA_MAX_TARGET_CGROUPS) {
    return Error{
        ErrorCode::kLimit, fmt::format("cannot sample {} cgroups", options.cgroups.size()),
        fmt::format("name {} or fewer, or a common parent", int{VESTA_MAX_TARGET_CGROUPS})};
  }
  std::unique_ptr<KernelSession> session(new KernelSession());
  const BpfLog log;
  session->skeleton_.reset(session_bpf__open());
  if (session->skeleton_ == nullptr) return load_error(kOwnPrograms, errno, log.text());
  session_bpf& skeleton = *session->skeleton_;
  bpf_map__set_max_entries(skeleton.maps.samples, options.ring_bytes);
  bpf_map__set_max_entries(skeleton.maps.processes, options.max_processes);
  bpf_map__set_max_entries(skeleton.maps.mapping_leaves, options.max_leaves);
  bpf_map__set_max_entries(skeleton.maps.modules, options.max_modules);
  bpf_map__set_max_entries(skeleton.maps.tables, options.max_modules);
  if (const int error = session_bpf__load(&skeleton); error != 0)
    return load_error(kOwnPrograms, -error, log.text());

  for (uint32_t i = 0; i < options.cgroups.size(); ++i) {
    const int fd = options.cgroups[i];
    if (bpf_map_update_elem(bpf_map__fd(skeleton.maps.target_cgroups), &i, &fd, BPF_ANY) != 0)
      return permission_error("make a cgroup a target", errno);
  }
  vesta_session& constants = session->constants_;
  constants.ring_high_water = options.ring_bytes / 2;
  constants.only_targets = options.only_targets ? 1 : 0;
  constants.target_cgroup_count = static_cast<uint32_t>(options.cgroups.size());
  VESTA_TRY(session->find_namespace());
  VESTA_ASSIGN(session->ring_, SampleRing::open(bpf_map__fd(skeleton.maps.samples)));
  session->map_fds_ = {bpf_map__fd(skeleton.maps.processes),
                       bpf_map__fd(skeleton.maps.mapping_leaves),
                       bpf_map__fd(skeleton.maps.modules), bpf_map__fd(skeleton.maps.tables)};
  return session;
}

Status KernelSession::find_namespace() {
  bpf_test_run_opts run{};
  run.sz = sizeof(run);
  if (bpf_prog_test_run_opts(bpf_program__fd(skeleton_->progs.find_namespace), &run) != 0 ||
      run.retval != 0) {
    return Error{ErrorCode::kIo, "cannot find out the pid namespace of this process", ""};
  }
  constants_.namespace_level = skeleton_->bss->own_namespace.level;
  constants_.namespace_address = skeleton_->bss->own_namespace.address;
  return {};
}

Status KernelSession::share_with(bpf_object* object, uint32_t probe) const {
  if (probe >= VESTA_MAX_PROBES)
    return Error{ErrorCode::kLimit, fmt::format("more than {} probes", int{VESTA_MAX_PROBES}), ""};
  for (bpf_map* map = bpf_object__next_map(object, nullptr); map != nullptr;
       map = bpf_object__next_map(object, map)) {
    if (bpf_map__is_internal(map)) continue;
    const bpf_map* own = bpf_object__find_map_by_name(skeleton_->obj, bpf_map__name(map));
    if (own == nullptr) continue;
    if (const int error = bpf_map__reuse_fd(map, bpf_map__fd(own)); error != 0)
      return permission_error(fmt::format("share the map {}", bpf_map__name(map)), -error);
  }
  // A program that asks for nothing has none.
  bpf_map* constants = bpf_object__find_map_by_name(object, kConstants);
  if (constants == nullptr) return {};
  vesta_session session = constants_;
  session.probe = probe;
  if (const int error = bpf_map__set_initial_value(constants, &session, sizeof(session));
      error != 0)
    return permission_error("set the constants of a program", -error);
  return {};
}

Status KernelSession::add_process(uint32_t pid, uint8_t kind) {
  if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.targets), &pid, &kind, BPF_ANY) == 0)
    return {};
  return target_error(fmt::format("process {}", pid), errno);
}

Status KernelSession::add_target(uint32_t pid) {
  return add_process(pid, VESTA_TARGET_PROCESS);
}

Status KernelSession::add_held_target(uint32_t pid) {
  return add_process(pid, VESTA_TARGET_HELD);
}

Status KernelSession::add_target_thread(uint32_t pid, uint32_t tid) {
  const uint8_t kind = VESTA_TARGET_THREADS;
  const int threads = bpf_map__fd(skeleton_->maps.target_threads);
  if (bpf_map_update_elem(threads, &tid, &kind, BPF_ANY) != 0)
    return target_error(fmt::format("thread {}", tid), errno);
  const int targets = bpf_map__fd(skeleton_->maps.targets);
  if (bpf_map_update_elem(targets, &pid, &kind, BPF_NOEXIST) != 0 && errno != EEXIST)
    return target_error(fmt::format("process {}", pid), errno);
  return {};
}

std::vector<uint32_t> KernelSession::target_processes() const {
  const int targets = bpf_map__fd(skeleton_->maps.targets);
  std::vector<uint32_t> out;
  uint32_t pid = 0;
  uint32_t next = 0;
  // Entries come and go meanwhile, and a walk whose entry went starts over: it must end, too.
  const uint32_t most = bpf_map__max_entries(skeleton_->maps.targets);
  for (uint32_t turn = 0; turn < most; ++turn) {
    if (bpf_map_get_next_key(targets, turn == 0 ? nullptr : &pid, &next) != 0) break;
    pid = next;
    uint8_t kind = 0;
    if (bpf_map_lookup_elem(targets, &pid, &kind) == 0 && kind != VESTA_TARGET_THREADS)
      out.push_back(pid);
  }
  return out;
}

void KernelSession::remove_target(uint32_t pid) {
  bpf_map_delete_elem(bpf_map__fd(skeleton_->maps.targets), &pid);
}

Status KernelSession::follow() {
  if (constants_.only_targets == 0 || fork_link_ != nullptr) return {};
  const BpfLog log;
  exec_link_.reset(bpf_program__attach(skeleton_->progs.follow_exec));
  if (exec_link_ == nullptr) return load_error("follow targets that are held", errno, log.text());
  fork_link_.reset(bpf_program__attach(skeleton_->progs.follow_fork));
  if (fork_link_ == nullptr) return load_error("follow children of targets", errno, log.text());
  return {};
}

KernelRunTime KernelSession::run_time() const {
  return run_time_of(skeleton_->obj);
}

KernelCounters KernelSession::counters(uint32_t probe) const {
  KernelCounters sums{};
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return sums;
  std::vector<uint64_t> values(static_cast<size_t>(cpus));
  for (uint32_t counter = 0; counter < VESTA_COUNTERS; ++counter) {
    const uint32_t key = probe * VESTA_COUNTERS + counter;
    if (bpf_map_lookup_elem(bpf_map__fd(skeleton_->maps.counters), &key, values.data()) != 0)
      continue;
    for (const uint64_t value : values) sums[counter] += value;
  }
  return sums;
}

}  // namespace vesta::agent
