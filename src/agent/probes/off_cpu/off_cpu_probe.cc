#include "agent/probes/off_cpu/off_cpu_probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <off_cpu.skel.h>
#include "agent/kernel/bpf_log.h"
#include "agent/kernel/privileges.h"
#include "base/clock.h"
#include "base/file.h"

namespace vesta::agent {
namespace {

constexpr std::string_view kProgram = "load the programs that follow waiting threads";
constexpr size_t kOpenWaitsAtOnce = 32;

// "0.10 0.12 0.15 2/345 678": 345. Of the whole host.
uint64_t threads_of_host() {
  constexpr uint64_t kUnknown = 1000;
  const auto file = InputFile::open("/proc/loadavg", 4096);
  if (!file.ok()) return kUnknown;
  const std::string_view text = file->bytes();
  const size_t slash = text.find('/');
  uint64_t threads = 0;
  if (slash != std::string_view::npos)
    (void)std::from_chars(text.data() + slash + 1, text.data() + text.size(), threads);
  return threads == 0 ? kUnknown : threads;
}

}  // namespace

void OffCpuProbe::Skeleton::operator()(off_cpu_bpf* skeleton) const {
  off_cpu_bpf__destroy(skeleton);
}
void OffCpuProbe::Link::operator()(bpf_link* link) const {
  bpf_link__destroy(link);
}

OffCpuProbe::OffCpuProbe(const KernelSession& session, uint32_t number, TakeRate rate)
    : session_(session), number_(number), rate_(rate) {}

OffCpuProbe::~OffCpuProbe() = default;

Result<std::unique_ptr<OffCpuProbe>> OffCpuProbe::load(const KernelSession& session,
                                                       uint32_t number,
                                                       const ProbeOptions& options) {
  // Of a few processes nobody knows here how many threads they have: few, mostly.
  constexpr uint64_t kThreadsOfTargets = 10;
  const uint64_t threads = session.has_only_targets() ? kThreadsOfTargets : threads_of_host();
  const uint32_t budget = options.rate == 0 ? kDefaultTakes : options.rate;
  std::unique_ptr<OffCpuProbe> probe(new OffCpuProbe(session, number, TakeRate(budget, threads)));
  const BpfLog log;
  probe->skeleton_.reset(off_cpu_bpf__open());
  if (probe->skeleton_ == nullptr) return load_error(kProgram, errno, log.text());
  off_cpu_bpf& skeleton = *probe->skeleton_;
  skeleton.rodata->with_kernel_threads = options.kernel_threads ? 1 : 0;
  skeleton.rodata->min_wait_ns = options.min_wait_ns;
  VESTA_TRY(session.share_with(skeleton.obj, number));
  if (const int error = off_cpu_bpf__load(&skeleton); error != 0)
    return load_error(kProgram, -error, log.text());
  probe->apply_rate();
  return probe;
}

void OffCpuProbe::apply_rate() {
  // Programs read it while they run.
  __atomic_store_n(&skeleton_->data->theta_ns, rate_.theta_ns(), __ATOMIC_RELAXED);
}

Status OffCpuProbe::start() {
  const BpfLog log;
  const auto& programs = skeleton_->progs;
  // Those that end a wait first: nothing waits to be finished before somebody finishes it.
  for (bpf_program* program :
       {programs.finish_in_call, programs.finish_at_exit, programs.note_wake_up,
        programs.note_new_thread, programs.note_switch}) {
    std::unique_ptr<bpf_link, Link> link(bpf_program__attach(program));
    if (link == nullptr) {
      const int error = errno;
      stop();
      return load_error(kProgram, error, log.text());
    }
    links_.push_back(std::move(link));
  }
  iterator_.reset(bpf_program__attach_iter(programs.cut_waits, nullptr));
  if (iterator_ == nullptr) {
    const int error = errno;
    stop();
    return load_error(kProgram, error, log.text());
  }
  counted_ns_ = monotonic_ns();
  counted_takes_ = takes();
  // Threads that wait already begin now.
  const uint64_t now = monotonic_ns();
  return iterate(now, 0, [](const OpenEvent&) {});
}

void OffCpuProbe::stop() {
  links_.clear();
}

Status OffCpuProbe::set_rate(uint32_t rate) {
  if (rate == 0)
    return Error{ErrorCode::kUsage, "the number of stacks a second must be 1 or more", ""};
  rate_.set_budget(rate);
  return {};
}

uint64_t OffCpuProbe::takes() const {
  return session_.counters(number_)[VESTA_COUNT_SAMPLES];
}

Status OffCpuProbe::maintain() {
  const uint64_t now = monotonic_ns();
  const uint64_t count = takes();
  rate_.update(count - counted_takes_, now - counted_ns_);
  counted_takes_ = count;
  counted_ns_ = now;
  apply_rate();
  return {};
}

Status OffCpuProbe::cut(uint64_t time_ns, uint64_t older_than_ns, const UseOpenEvent& use) {
  return iterate(time_ns, older_than_ns, use);
}

Status OffCpuProbe::iterate(uint64_t time_ns, uint64_t older_than_ns, const UseOpenEvent& use) {
  skeleton_->bss->cut_ns = time_ns;
  skeleton_->bss->cut_older_ns = older_than_ns;
  const UniqueFd fd(bpf_iter_create(bpf_link__fd(iterator_.get())));
  if (!fd.valid()) return permission_error("look at waiting threads", errno);
  std::vector<vesta_open_wait> waits(kOpenWaitsAtOnce);
  const size_t room = waits.size() * sizeof(vesta_open_wait);
  size_t bytes = 0;
  while (true) {
    auto* const begin = reinterpret_cast<char*>(waits.data());
    const ssize_t got = ::read(fd.get(), begin + bytes, room - bytes);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) {
      return Error{ErrorCode::kIo,
                   fmt::format("cannot look at waiting threads: {}", std::strerror(errno)), ""};
    }
    if (got == 0) return {};
    bytes += static_cast<size_t>(got);
    const size_t whole = bytes / sizeof(vesta_open_wait);
    for (size_t i = 0; i < whole; ++i) {
      vesta_open_wait& wait = waits[i];
      wait.thread.kernel_frames =
          std::min<uint32_t>(wait.thread.kernel_frames, VESTA_MAX_KERNEL_FRAMES);
      for (size_t part = 0; part < VESTA_WAIT_PARTS; ++part) {
        if (wait.ns[part] == 0) continue;
        OpenEvent event{wait.thread, {wait.count[part], wait.ns[part]}, wait.detail[part]};
        if (part == VESTA_WAIT_BLOCKED) {
          event.object = wait.object;
          event.link = wait.link;
        }
        use(event);
      }
    }
    bytes -= whole * sizeof(vesta_open_wait);
    std::memmove(begin, begin + whole * sizeof(vesta_open_wait), bytes);
  }
}

KernelRunTime OffCpuProbe::cost() const {
  return run_time_of(skeleton_->obj);
}

std::vector<ProbeTotal> OffCpuProbe::totals() const {
  constexpr std::array<std::string_view, VESTA_WAIT_TOTALS> kNames = {
      "run queue", "interruptible", "uninterruptible", "stopped", "too short"};
  const int cpus = libbpf_num_possible_cpus();
  std::vector<vesta_wait_total> values(static_cast<size_t>(std::max(cpus, 1)));
  std::vector<ProbeTotal> out;
  for (uint32_t total = 0; total < VESTA_WAIT_TOTALS; ++total) {
    ProbeTotal& sum = out.emplace_back();
    sum.name = kNames[total];
    if (bpf_map_lookup_elem(bpf_map__fd(skeleton_->maps.wait_totals), &total, values.data()) != 0)
      continue;
    for (const vesta_wait_total& value : values) {
      sum.value += value.ns;
      sum.count += value.waits;
    }
  }
  return out;
}

Result<std::unique_ptr<Probe>> load_off_cpu_probe(const KernelSession& session, uint32_t number,
                                                  const ProbeOptions& options) {
  VESTA_ASSIGN(std::unique_ptr<OffCpuProbe> probe, OffCpuProbe::load(session, number, options));
  return std::unique_ptr<Probe>(std::move(probe));
}

}  // namespace vesta::agent
