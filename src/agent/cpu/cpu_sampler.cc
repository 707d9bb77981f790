#include "agent/cpu/cpu_sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include <sampler.skel.h>
#include "agent/doctor/privileges.h"
#include "agent/kernel/bpf_log.h"
#include "agent/kernel/online_cpus.h"

namespace vesta {
namespace {

Error load_error(int error_number, const std::string& log) {
  Error error = permission_error("load the sampling program", error_number);
  if (error.code != ErrorCode::kPermission && !log.empty()) error.message += "\n" + log;
  return error;
}

}  // namespace

void CpuSampler::Skeleton::operator()(sampler_bpf* skeleton) const {
  sampler_bpf__destroy(skeleton);
}
void CpuSampler::Link::operator()(bpf_link* link) const {
  bpf_link__destroy(link);
}

CpuSampler::~CpuSampler() = default;

Result<std::unique_ptr<CpuSampler>> CpuSampler::load(const CpuSamplerOptions& options) {
  std::unique_ptr<CpuSampler> sampler(new CpuSampler());
  sampler->online_cpus_ = options.online_cpus;
  VESTA_ASSIGN(sampler->clock_, choose_clock(options.clock, options.frequency));
  if (::access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
    return Error{
        ErrorCode::kUnsupported,
        "this kernel does not describe its types (no /sys/kernel/btf/vmlinux)",
        "use a kernel built with CONFIG_DEBUG_INFO_BTF, as those of all large distributions are"};
  }
  const BpfLog log;
  sampler->skeleton_.reset(sampler_bpf__open());
  if (sampler->skeleton_ == nullptr) return load_error(errno, log.text());
  sampler_bpf& skeleton = *sampler->skeleton_;
  skeleton.rodata->sample_weight = sampler->clock_.period_ns;
  skeleton.rodata->with_kernel = options.kernel_stacks ? 1 : 0;
  skeleton.rodata->only_targets = options.only_targets ? 1 : 0;
  skeleton.rodata->ring_high_water = options.ring_bytes / 2;
  bpf_map__set_max_entries(skeleton.maps.samples, options.ring_bytes);
  bpf_map__set_max_entries(skeleton.maps.processes, options.max_processes);
  bpf_map__set_max_entries(skeleton.maps.mapping_leaves, options.max_leaves);
  bpf_map__set_max_entries(skeleton.maps.modules, options.max_modules);
  bpf_map__set_max_entries(skeleton.maps.tables, options.max_modules);
  if (const int error = sampler_bpf__load(&skeleton); error != 0)
    return load_error(-error, log.text());

  bpf_test_run_opts run{};
  run.sz = sizeof(run);
  if (bpf_prog_test_run_opts(bpf_program__fd(skeleton.progs.find_namespace), &run) != 0 ||
      run.retval != 0) {
    return Error{ErrorCode::kIo, "cannot find out the pid namespace of this process", ""};
  }
  VESTA_ASSIGN(sampler->ring_, SampleRing::open(bpf_map__fd(skeleton.maps.samples)));
  sampler->map_fds_ = {bpf_map__fd(skeleton.maps.processes),
                       bpf_map__fd(skeleton.maps.mapping_leaves),
                       bpf_map__fd(skeleton.maps.modules), bpf_map__fd(skeleton.maps.tables)};
  return sampler;
}

Status CpuSampler::add_target(uint32_t pid) {
  const uint8_t one = 1;
  if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.targets), &pid, &one, BPF_ANY) != 0) {
    return Error{ErrorCode::kLimit,
                 fmt::format("cannot add process {} to the targets: {}", pid, std::strerror(errno)),
                 ""};
  }
  return {};
}

void CpuSampler::remove_target(uint32_t pid) {
  bpf_map_delete_elem(bpf_map__fd(skeleton_->maps.targets), &pid);
}

Status CpuSampler::open_cpu(int cpu) {
  VESTA_ASSIGN(UniqueFd event, open_clock(clock_, cpu));
  const BpfLog log;
  std::unique_ptr<bpf_link, Link> link(
      bpf_program__attach_perf_event(skeleton_->progs.take_cpu_sample, event.get()));
  if (link == nullptr) return load_error(errno, log.text());
  (void)event.release();  // the link closes it
  cpu_links_[cpu] = std::move(link);
  return {};
}

Status CpuSampler::start() {
  if (skeleton_->rodata->only_targets != 0) {
    const BpfLog log;
    fork_link_.reset(bpf_program__attach(skeleton_->progs.follow_fork));
    if (fork_link_ == nullptr) return load_error(errno, log.text());
  }
  return update_cpus();
}

Status CpuSampler::update_cpus() {
  VESTA_ASSIGN(const std::vector<int> online, online_cpus(online_cpus_));
  std::map<int, std::unique_ptr<bpf_link, Link>> kept;
  for (const int cpu : online) {
    const auto found = cpu_links_.find(cpu);
    if (found != cpu_links_.end()) kept[cpu] = std::move(found->second);
  }
  cpu_links_ = std::move(kept);  // events of CPUs that are gone close here
  for (const int cpu : online) {
    if (cpu_links_.contains(cpu)) continue;
    Status opened = open_cpu(cpu);
    if (!opened.ok() && opened.error().code != ErrorCode::kNotFound) return opened;
  }
  return {};
}

void CpuSampler::stop() {
  cpu_links_.clear();
  fork_link_.reset();
}

KernelCounters CpuSampler::counters() const {
  KernelCounters sums{};
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return sums;
  std::vector<uint64_t> values(static_cast<size_t>(cpus));
  for (uint32_t counter = 0; counter < VESTA_COUNTERS; ++counter) {
    if (bpf_map_lookup_elem(bpf_map__fd(skeleton_->maps.counters), &counter, values.data()) != 0)
      continue;
    for (const uint64_t value : values) sums[counter] += value;
  }
  return sums;
}

}  // namespace vesta
