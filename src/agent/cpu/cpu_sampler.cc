#include "agent/cpu/cpu_sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <vector>

#include <sampler.skel.h>
#include <shared/clock.h>
#include <shared/targets.h>
#include "agent/doctor/privileges.h"
#include "agent/kernel/bpf_log.h"
#include "agent/kernel/online_cpus.h"
#include "base/clock.h"

namespace vesta {
namespace {

Error load_error(int error_number, const std::string& log) {
  Error error = permission_error("load the sampling program", error_number);
  if (error.code != ErrorCode::kPermission && !log.empty()) error.message += "\n" + log;
  return error;
}

Status write_clock(int map_fd, int cpu, const vesta_clock& clock) {
  if (bpf_map_update_elem(map_fd, &cpu, &clock, BPF_ANY) == 0) return {};
  return permission_error(fmt::format("set the clock of CPU {}", cpu), errno);
}

Error target_error(const std::string& what, int error_number) {
  return {ErrorCode::kLimit,
          fmt::format("cannot add {} to the targets: {}", what, std::strerror(error_number)), ""};
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
  if (options.cgroups.size() > VESTA_MAX_TARGET_CGROUPS) {
    return Error{ErrorCode::kLimit, fmt::format("cannot sample {} cgroups", options.cgroups.size()),
                 fmt::format("name {} or fewer, or one above them", int{VESTA_MAX_TARGET_CGROUPS})};
  }
  const BpfLog log;
  sampler->skeleton_.reset(sampler_bpf__open());
  if (sampler->skeleton_ == nullptr) return load_error(errno, log.text());
  sampler_bpf& skeleton = *sampler->skeleton_;
  skeleton.rodata->with_kernel = options.kernel_stacks ? 1 : 0;
  skeleton.rodata->only_targets = options.only_targets ? 1 : 0;
  skeleton.rodata->target_cgroup_count = static_cast<uint32_t>(options.cgroups.size());
  skeleton.rodata->ring_high_water = options.ring_bytes / 2;
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return load_error(-cpus, "cannot tell how many CPUs there may be");
  bpf_map__set_max_entries(skeleton.maps.clocks, static_cast<uint32_t>(cpus));
  bpf_map__set_max_entries(skeleton.maps.samples, options.ring_bytes);
  bpf_map__set_max_entries(skeleton.maps.processes, options.max_processes);
  bpf_map__set_max_entries(skeleton.maps.mapping_leaves, options.max_leaves);
  bpf_map__set_max_entries(skeleton.maps.modules, options.max_modules);
  bpf_map__set_max_entries(skeleton.maps.tables, options.max_modules);
  if (const int error = sampler_bpf__load(&skeleton); error != 0)
    return load_error(-error, log.text());

  for (uint32_t i = 0; i < options.cgroups.size(); ++i) {
    const int fd = options.cgroups[i];
    if (bpf_map_update_elem(bpf_map__fd(skeleton.maps.target_cgroups), &i, &fd, BPF_ANY) != 0)
      return permission_error("make a cgroup a target", errno);
  }
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
  const uint8_t kind = VESTA_TARGET_PROCESS;
  if (bpf_map_update_elem(bpf_map__fd(skeleton_->maps.targets), &pid, &kind, BPF_ANY) == 0)
    return {};
  return target_error(fmt::format("process {}", pid), errno);
}

Status CpuSampler::add_target_thread(uint32_t pid, uint32_t tid) {
  const uint8_t kind = VESTA_TARGET_THREADS;
  const int threads = bpf_map__fd(skeleton_->maps.target_threads);
  if (bpf_map_update_elem(threads, &tid, &kind, BPF_ANY) != 0)
    return target_error(fmt::format("thread {}", tid), errno);
  const int targets = bpf_map__fd(skeleton_->maps.targets);
  if (bpf_map_update_elem(targets, &pid, &kind, BPF_NOEXIST) != 0 && errno != EEXIST)
    return target_error(fmt::format("process {}", pid), errno);
  return {};
}

std::vector<uint32_t> CpuSampler::target_processes() const {
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
    if (bpf_map_lookup_elem(targets, &pid, &kind) == 0 && kind == VESTA_TARGET_PROCESS)
      out.push_back(pid);
  }
  return out;
}

void CpuSampler::remove_target(uint32_t pid) {
  bpf_map_delete_elem(bpf_map__fd(skeleton_->maps.targets), &pid);
}

Status CpuSampler::open_cpu(int cpu) {
  VESTA_ASSIGN(UniqueFd event, open_clock(clock_, cpu));
  vesta_clock state{};
  state.period_ns = clock_.period_ns;
  VESTA_TRY(write_clock(bpf_map__fd(skeleton_->maps.clocks), cpu, state));
  CpuClock opened;
  opened.event = UniqueFd(::fcntl(event.get(), F_DUPFD_CLOEXEC, 0));
  if (!opened.event.valid()) return permission_error("keep a clock's event", errno);
  const BpfLog log;
  opened.link.reset(bpf_program__attach_perf_event(skeleton_->progs.take_cpu_sample, event.get()));
  if (opened.link == nullptr) return load_error(errno, log.text());
  (void)event.release();  // the link closes it
  opened.started_ns = monotonic_ns();
  cpu_clocks_[cpu] = std::move(opened);
  return {};
}

// The clock is stopped for some microseconds, so that no tick falls between the two rates. What had
// gone by since its last tick is carried over to the first one that follows.
Status CpuSampler::change_clock(int cpu, CpuClock& cpu_clock, const PerfClock& next) {
  const int clocks = bpf_map__fd(skeleton_->maps.clocks);
  const int event = cpu_clock.event.get();
  if (::ioctl(event, PERF_EVENT_IOC_DISABLE, 0) != 0)
    return permission_error(fmt::format("stop the clock of CPU {}", cpu), errno);
  const uint64_t stopped_ns = monotonic_ns();
  vesta_clock state{};
  if (bpf_map_lookup_elem(clocks, &cpu, &state) != 0)
    return permission_error("read the state of a clock", errno);
  // Not yet taken along by a tick, because there was none since the rate last changed.
  const bool is_hardware = clock_.source == ClockSource::kHardware;
  const bool had_no_tick = is_hardware || stopped_ns - cpu_clock.started_ns < clock_.period_ns;
  uint64_t carried_ns = had_no_tick ? state.carried_ns : 0;
  if (is_hardware) {
    uint64_t count = 0;  // of cycles since the event was opened
    if (::read(event, &count, sizeof(count)) == sizeof(count) && count > cpu_clock.counted) {
      const uint64_t rest = (count - cpu_clock.counted) % clock_.period;
      carried_ns +=
          static_cast<uint64_t>(static_cast<double>(rest) / static_cast<double>(clock_.period) *
                                static_cast<double>(clock_.period_ns));
      cpu_clock.counted = count;
    }
  } else {
    // Ticks come in step with the last one, those that met an idle CPU and were not seen included.
    const uint64_t last_ns =
        std::min(std::max<uint64_t>(state.last_tick_ns, cpu_clock.started_ns), stopped_ns);
    carried_ns += (stopped_ns - last_ns) % clock_.period_ns;
  }
  state.period_ns = next.period_ns;
  state.carried_ns = 0;
  VESTA_TRY(write_clock(clocks, cpu, state));
  uint64_t period = next.period;
  const bool changed = ::ioctl(event, PERF_EVENT_IOC_PERIOD, &period) == 0;
  const int period_error = errno;
  if (!changed) {
    state.period_ns = clock_.period_ns;
    VESTA_TRY(write_clock(clocks, cpu, state));
  }
  if (::ioctl(event, PERF_EVENT_IOC_ENABLE, 0) != 0)
    return permission_error(fmt::format("start the clock of CPU {}", cpu), errno);
  cpu_clock.started_ns = monotonic_ns();
  // The first tick is a whole period away, so this is there in time.
  if (is_hardware) {
    state.carried_ns = carried_ns;
    state.carried_until_ns = std::numeric_limits<uint64_t>::max();
  } else {
    state.carried_ns = carried_ns + (cpu_clock.started_ns - stopped_ns);
    state.carried_until_ns = cpu_clock.started_ns + state.period_ns + state.period_ns / 2;
  }
  VESTA_TRY(write_clock(clocks, cpu, state));
  if (!changed)
    return permission_error(fmt::format("change the clock of CPU {}", cpu), period_error);
  return {};
}

Status CpuSampler::set_frequency(uint32_t frequency) {
  if (frequency == 0)
    return Error{ErrorCode::kUsage, "a clock cannot tick 0 times a second", "1 is the least"};
  const PerfClock next = at_frequency(clock_, frequency);
  if (next.period == clock_.period) return {};
  for (auto it = cpu_clocks_.begin(); it != cpu_clocks_.end();) {
    if (change_clock(it->first, it->second, next).ok()) {
      ++it;
    } else {
      it = cpu_clocks_.erase(it);  // opened anew below, unless the CPU is gone
    }
  }
  clock_ = next;
  return update_cpus();
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
  // Events of CPUs that are gone close here.
  std::erase_if(cpu_clocks_, [&](const auto& entry) {
    return std::ranges::find(online, entry.first) == online.end();
  });
  for (const int cpu : online) {
    if (cpu_clocks_.contains(cpu)) continue;
    Status opened = open_cpu(cpu);
    if (!opened.ok() && opened.error().code != ErrorCode::kNotFound) return opened;
  }
  return {};
}

void CpuSampler::stop() {
  cpu_clocks_.clear();
  fork_link_.reset();
}

KernelRunTime CpuSampler::run_time() const {
  KernelRunTime sum;
  for (const bpf_program* program :
       {skeleton_->progs.take_cpu_sample, skeleton_->progs.follow_fork}) {
    bpf_prog_info info{};
    uint32_t bytes = sizeof(info);
    if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &bytes) != 0) continue;
    sum.ns += info.run_time_ns;
    sum.runs += info.run_cnt;
  }
  return sum;
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
