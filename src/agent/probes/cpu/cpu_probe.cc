#include "agent/probes/cpu/cpu_probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <vector>

#include <cpu.skel.h>
#include <shared/clock.h>
#include "agent/kernel/bpf_log.h"
#include "agent/kernel/privileges.h"
#include "base/clock.h"

namespace vesta::agent {
namespace {

constexpr std::string_view kProgram = "load the program that samples CPU time";

Status write_clock(int map_fd, int cpu, const vesta_clock& clock) {
  if (bpf_map_update_elem(map_fd, &cpu, &clock, BPF_ANY) == 0) return {};
  return permission_error(fmt::format("set the clock of CPU {}", cpu), errno);
}

}  // namespace

void CpuProbe::Skeleton::operator()(cpu_bpf* skeleton) const {
  cpu_bpf__destroy(skeleton);
}
void CpuProbe::Link::operator()(bpf_link* link) const {
  bpf_link__destroy(link);
}

CpuProbe::~CpuProbe() = default;

Result<std::unique_ptr<CpuProbe>> CpuProbe::load(const KernelSession& session, uint32_t number,
                                                 const CpuProbeOptions& options) {
  std::unique_ptr<CpuProbe> probe(new CpuProbe());
  probe->online_cpus_ = options.online_cpus;
  VESTA_ASSIGN(probe->clock_, choose_clock(options.clock, options.rate));
  const int cpus = libbpf_num_possible_cpus();
  if (cpus <= 0) return load_error(kProgram, -cpus, "cannot find out the number of CPUs");
  const BpfLog log;
  probe->skeleton_.reset(cpu_bpf__open());
  if (probe->skeleton_ == nullptr) return load_error(kProgram, errno, log.text());
  cpu_bpf& skeleton = *probe->skeleton_;
  skeleton.rodata->with_kernel = options.kernel_stacks ? 1 : 0;
  bpf_map__set_max_entries(skeleton.maps.clocks, static_cast<uint32_t>(cpus));
  VESTA_TRY(session.share_with(skeleton.obj, number));
  if (const int error = cpu_bpf__load(&skeleton); error != 0)
    return load_error(kProgram, -error, log.text());
  return probe;
}

Status CpuProbe::open_cpu(int cpu) {
  VESTA_ASSIGN(UniqueFd event, open_clock(clock_, cpu));
  vesta_clock state{};
  state.period_ns = clock_.period_ns;
  VESTA_TRY(write_clock(bpf_map__fd(skeleton_->maps.clocks), cpu, state));
  CpuClock opened;
  opened.event = UniqueFd(::fcntl(event.get(), F_DUPFD_CLOEXEC, 0));
  if (!opened.event.valid()) return permission_error("keep a clock's event", errno);
  const BpfLog log;
  opened.link.reset(bpf_program__attach_perf_event(skeleton_->progs.take_cpu_sample, event.get()));
  if (opened.link == nullptr) return load_error(kProgram, errno, log.text());
  (void)event.release();  // the link closes it
  opened.started_ns = monotonic_ns();
  cpu_clocks_[cpu] = std::move(opened);
  return {};
}

// The clock is stopped for some microseconds, so that no tick falls between the two rates. What had
// gone by since its last tick is carried over to the first one that follows.
Status CpuProbe::change_clock(int cpu, CpuClock& cpu_clock, const PerfClock& next) {
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

Status CpuProbe::set_rate(uint32_t rate) {
  if (rate == 0)
    return Error{ErrorCode::kUsage, "the sampling rate must be 1 or more", "1 is the least"};
  const PerfClock next = at_frequency(clock_, rate);
  if (next.period == clock_.period) return {};
  for (auto it = cpu_clocks_.begin(); it != cpu_clocks_.end();) {
    if (change_clock(it->first, it->second, next).ok()) {
      ++it;
    } else {
      it = cpu_clocks_.erase(it);  // opened anew below, unless the CPU is gone
    }
  }
  clock_ = next;
  return maintain();
}

Status CpuProbe::maintain() {
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

KernelRunTime CpuProbe::cost() const {
  return run_time_of(skeleton_->obj);
}

Result<std::unique_ptr<Probe>> load_cpu_probe(const KernelSession& session, uint32_t number,
                                              const ProbeOptions& options) {
  CpuProbeOptions own{options.rate, ClockSource::kAuto, options.kernel_stacks};
  if (!options.source.empty()) {
    VESTA_ASSIGN(own.clock, clock_source_of(options.source));
  }
  VESTA_ASSIGN(std::unique_ptr<Probe> probe, CpuProbe::load(session, number, own));
  return probe;
}

}  // namespace vesta::agent
