#include "agent/recording/sampling.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "agent/cpu/cpu_sampler.h"
#include "agent/process/process_table.h"
#include "agent/process/side_band.h"
#include "agent/recording/sample_queue.h"
#include "agent/recording/sample_resolver.h"
#include "base/clock.h"
#include "base/thread_name.h"
#include "unwind/table_cache.h"

namespace vesta {
namespace {

// A profiler that waits behind what it measures loses stacks: threads that are started while this
// lives run before others. Without the right to, nothing happens.
class RaisedPriority {
 public:
  RaisedPriority() : before_(::getpriority(PRIO_PROCESS, 0)) {
    ::setpriority(PRIO_PROCESS, 0, before_ - 10);
  }
  ~RaisedPriority() { ::setpriority(PRIO_PROCESS, 0, before_); }
  RaisedPriority(const RaisedPriority&) = delete;
  RaisedPriority& operator=(const RaisedPriority&) = delete;

 private:
  int before_;
};

constexpr int kDrainMs = 100;  // between two looks at the sample ring
constexpr std::chrono::milliseconds kTick{200};
constexpr uint64_t kMaintainNs = 1'000'000'000;
constexpr uint64_t kTidyNs = 2'000'000'000;
constexpr uint64_t kTellAgainNs = 300'000'000'000;
// From the time stamp of a sample until its record can be read: the kernel walks the stack between.
constexpr uint64_t kRecordDelayNs = 50'000'000;
// For the tables of what is to be recorded, before the first sample: a stack that waits for its
// table is copied, and a copy ends where the target switched stacks (in a signal handler, say).
constexpr std::chrono::milliseconds kMaxTableHeadStart{2000};

constexpr uint32_t kMinRingBytes = 2U << 20;
constexpr uint32_t kMaxRingBytes = 64U << 20;
constexpr uint64_t kSampleBytes = 2048;  // a deep stack of kernel and user frames

}  // namespace

uint32_t ring_bytes_for(uint32_t frequency, uint32_t cpus) {
  // Twice what comes until the next look: the reader is woken when half is full.
  const uint64_t bytes = uint64_t{frequency} * cpus * kSampleBytes * 2 * kDrainMs / 1000;
  return std::bit_ceil(
      static_cast<uint32_t>(std::clamp<uint64_t>(bytes, kMinRingBytes, kMaxRingBytes)));
}

struct Sampling::Parts {
  explicit Parts(const SamplingOptions& sampling_options)
      : options(sampling_options),
        slots(CpuSamplerOptions().max_modules),
        queue(sampling_options.queue_bytes) {}

  void collect(const std::stop_token& stop);
  void collect_once();
  void hand_over(uint64_t drained_ns);
  void count_lost();
  void drain_side_band();
  void wait_for_tables();
  void follow_frequency();
  void name();
  std::vector<std::pair<std::string, uint64_t>> lost_in_kernel() const;

  const SamplingOptions options;
  SamplingTargets targets;  // none for the whole host
  std::unique_ptr<CpuSampler> sampler;
  std::unique_ptr<SideBand> side_band;
  ModuleRegistry registry;
  std::unique_ptr<ProcessTable> processes;
  std::optional<UnwindTableCache> cache;
  std::optional<KernelTableMap> kernel_tables;
  std::optional<KernelProcessMap> kernel_processes;
  ModuleSlots slots;
  std::unique_ptr<TableLoader> loader;
  std::unique_ptr<SampleResolver> resolver;
  SampleQueue queue;
  SampleConsumer* consumer = nullptr;
  UniqueFd epoll;
  UniqueFd stop_event;
  PerfClock clock;
  uint64_t start_ns = 0;
  uint64_t sampling_ns = 0;  // when the first clock began to tick
  uint64_t start_unix_ns = 0;
  uint64_t last_maintain_ns = 0;
  uint64_t last_told_ns = 0;
  std::atomic<bool> targets_ended{false};
  std::atomic<uint64_t> first_sample_ns{0};
  std::atomic<uint32_t> wanted_frequency{0};
  std::atomic<uint32_t> frequency{0};
  std::atomic<uint64_t> period_ns{0};
  // All that was sampled before has been pushed into the queue.
  std::atomic<uint64_t> collected_until_ns{0};
  std::atomic<uint64_t> oldest_waiting_ns{UINT64_MAX};  // for a table
  std::map<std::string, uint64_t> lost_before;          // of the collecting thread
  std::vector<LostEvents> lost;                         // to be handed over
  std::atomic<uint64_t> collecting_rounds{0};
  std::atomic<uint64_t> naming_rounds{0};
  std::atomic<uint64_t> process_count{0};
  std::atomic<uint64_t> module_count{0};
  std::string cache_problem;
  std::jthread collector;
  std::jthread namer;
};

void Sampling::Parts::drain_side_band() {
  side_band->drain([this](const SideBandEvent& event) {
    processes->apply(event);
    if (const auto* symbol = std::get_if<KsymbolEvent>(&event)) resolver->add(*symbol);
    if (const auto* fork = std::get_if<ForkEvent>(&event)) resolver->note_fork(*fork);
  });
  // Their ids may be given to processes that nobody asked for.
  for (const uint32_t pid : resolver->publish_changes()) sampler->remove_target(pid);
}

void Sampling::Parts::collect_once() {
  const uint64_t began_ns = monotonic_ns();
  // Processes before samples: an event that is older than a sample must be known when the sample is
  // looked up.
  drain_side_band();
  (void)sampler->drain([this](const SampleRecord& record) {
    if (first_sample_ns == 0) first_sample_ns = record.head.time_ns - start_ns;
    resolver->add(record);
  });
  hand_over(began_ns);
}

void Sampling::Parts::hand_over(uint64_t drained_ns) {
  ResolvedSamples samples = resolver->take();
  const uint64_t waiting_ns = resolver->oldest_waiting_ns();
  samples.complete_until_ns = std::min(drained_ns - kRecordDelayNs, waiting_ns);
  samples.lost = std::exchange(lost, {});
  const uint64_t complete_ns = samples.complete_until_ns;
  if (!samples.empty()) queue.push(std::move(samples));
  collected_until_ns = complete_ns;
  oldest_waiting_ns = waiting_ns;
}

// What the kernel counted since the last call, for the window of now.
void Sampling::Parts::count_lost() {
  for (auto& [reason, count] : lost_in_kernel()) {
    uint64_t& before = lost_before[reason];
    if (count != before) lost.push_back({reason, count - before, monotonic_ns()});
    before = count;
  }
}

std::vector<std::pair<std::string, uint64_t>> Sampling::Parts::lost_in_kernel() const {
  const KernelCounters count = sampler->counters();
  return {{"sample ring full", count[VESTA_COUNT_RING_FULL]},
          {"no scratch memory", count[VESTA_COUNT_NO_SCRATCH]},
          {"damaged record", sampler->damaged_records()}};
}

void Sampling::Parts::collect(const std::stop_token& stop) {
  std::array<epoll_event, 8> events{};
  uint64_t next_drain_ns = 0;
  while (!stop.stop_requested()) {
    ++collecting_rounds;
    follow_frequency();
    const uint64_t now = monotonic_ns();
    const int wait_ms =
        next_drain_ns > now ? static_cast<int>((next_drain_ns - now) / 1'000'000) + 1 : 0;
    const int count =
        ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), wait_ms);
    bool ring_is_filling = false;
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == side_band->fd()) drain_side_band();
      if (fd == sampler->ring_fd()) ring_is_filling = true;
      if (fd == loader->ready_fd()) {
        loader->clear_ready();
        resolver->retry();
      }
    }
    if (ring_is_filling || monotonic_ns() >= next_drain_ns) {
      collect_once();
      if (!options.whole_host && !targets_ended) targets_ended = targets.have_ended(*sampler);
      next_drain_ns = monotonic_ns() + kDrainMs * 1'000'000ULL;
    }
    if (monotonic_ns() - last_maintain_ns > kMaintainNs) {
      last_maintain_ns = monotonic_ns();
      processes->maintain();
      if (!options.whole_host) targets.follow(*sampler, *resolver);
      count_lost();
      resolver->give_up_waiting(last_maintain_ns -
                                std::min(last_maintain_ns, options.table_wait_ns));
      (void)sampler->update_cpus();
      (void)side_band->update_cpus();
      process_count = processes->size();
      module_count = registry.size();
      if (last_maintain_ns - last_told_ns > kTellAgainNs) {
        last_told_ns = last_maintain_ns;
        resolver->tell_modules_again();
      }
    }
  }
  sampler->stop();
  collect_once();
  wait_for_tables();
  count_lost();
  hand_over(monotonic_ns());
  queue.close();
}

void Sampling::Parts::wait_for_tables() {
  const uint64_t deadline = monotonic_ns() + options.last_table_wait_ns;
  while (resolver->is_waiting() && monotonic_ns() < deadline) {
    epoll_event event{};
    (void)::epoll_wait(epoll.get(), &event, 1, kDrainMs);
    drain_side_band();
    loader->clear_ready();
    resolver->retry();
  }
  resolver->give_up_waiting();
}

void Sampling::Parts::follow_frequency() {
  const uint32_t wanted = wanted_frequency;
  if (wanted == frequency || !sampler->set_frequency(wanted).ok()) return;
  frequency = wanted;
  period_ns = sampler->clock().period_ns;
}

void Sampling::Parts::name() {
  uint64_t tidied_ns = monotonic_ns();
  while (!queue.is_done()) {
    ++naming_rounds;
    // Before the look into the queue: what is pushed after it may be older.
    const uint64_t collected_ns = collected_until_ns;
    const std::optional<ResolvedSamples> samples = queue.pop(kTick);
    if (samples) consumer->add(*samples);
    queue.done();
    consumer->note_complete(samples ? samples->complete_until_ns : collected_ns);
    consumer->tick();
    if (monotonic_ns() - tidied_ns < kTidyNs) continue;
    consumer->tidy();
    ::malloc_trim(0);
    tidied_ns = monotonic_ns();
  }
}

Sampling::Sampling(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Sampling::~Sampling() {
  stop();
}

Result<std::unique_ptr<Sampling>> Sampling::load(const SamplingOptions& options) {
  auto parts = std::make_unique<Parts>(options);
  if (!options.whole_host) {
    VESTA_ASSIGN(parts->targets, SamplingTargets::find(options.targets));
  }
  parts->start_ns = monotonic_ns();

  CpuSamplerOptions sampling;
  sampling.frequency = options.frequency;
  sampling.clock = options.clock;
  sampling.kernel_stacks = options.kernel_stacks;
  sampling.only_targets = !options.whole_host;
  sampling.cgroups = parts->targets.kernel_cgroups();
  sampling.ring_bytes = options.ring_bytes;
  const RaisedPriority priority;
  VESTA_ASSIGN(parts->sampler, CpuSampler::load(sampling));
  parts->clock = parts->sampler->clock();
  parts->period_ns = parts->sampler->clock().period_ns;
  parts->wanted_frequency = parts->frequency = options.frequency;
  // Reading the kernel's types took some 10 MB that are free now, but would stay ours.
  ::malloc_trim(0);
  VESTA_TRY(parts->targets.hand_to(*parts->sampler));
  // From before the first sample, so that nothing happens between the scan and the events.
  VESTA_ASSIGN(parts->side_band, SideBand::open());
  parts->processes = std::make_unique<ProcessTable>(parts->registry);

  if (!options.cache_folder.empty()) {
    auto cache = UnwindTableCache::open(options.cache_folder);
    if (cache.ok()) {
      parts->cache.emplace(std::move(*cache));
    } else {
      parts->cache_problem = cache.error().message;
    }
  }
  parts->kernel_tables.emplace(parts->sampler->maps());
  parts->kernel_processes.emplace(parts->sampler->maps());
  parts->loader = std::make_unique<TableLoader>(
      &*parts->kernel_tables, parts->cache ? &*parts->cache : nullptr, options.tables);
  SampleResolverOptions resolving;
  resolving.targets = parts->targets.processes();
  parts->resolver =
      std::make_unique<SampleResolver>(*parts->processes, parts->registry, *parts->loader,
                                       parts->slots, &*parts->kernel_processes, resolving);

  parts->epoll = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  parts->stop_event = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  for (const int fd : {parts->side_band->fd(), parts->sampler->ring_fd(), parts->loader->ready_fd(),
                       parts->stop_event.get()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (::epoll_ctl(parts->epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0)
      return Error{ErrorCode::kIo, "cannot wait for events of the kernel", ""};
  }
  return std::unique_ptr<Sampling>(new Sampling(std::move(parts)));
}

Status Sampling::run(SampleConsumer& consumer) {
  const RaisedPriority priority;
  Parts& parts = *parts_;
  parts.consumer = &consumer;
  parts.processes->scan();
  parts.resolver->begin();
  (void)parts.loader->wait_until_idle(kMaxTableHeadStart);
  if (!parts.options.whole_host)
    VESTA_TRY(parts.targets.drop_ended(*parts.sampler, *parts.resolver));
  parts.start_unix_ns = clock_ns(CLOCK_REALTIME);
  parts.sampling_ns = monotonic_ns();
  parts.last_told_ns = parts.sampling_ns;
  VESTA_TRY(parts.sampler->start());
  parts.namer = std::jthread([&parts] {
    name_thread("vesta-naming");
    parts.name();
  });
  parts.collector = std::jthread([&parts](const std::stop_token& stop) {
    name_thread("vesta-collect");
    parts.collect(stop);
  });
  return {};
}

void Sampling::stop() {
  if (!parts_->collector.joinable()) return;
  parts_->collector.request_stop();
  const uint64_t one = 1;
  (void)!::write(parts_->stop_event.get(), &one, sizeof(one));
  parts_->collector.join();
  parts_->namer.join();
}

uint64_t Sampling::Counters::lost_total() const {
  uint64_t sum = 0;
  for (const auto& [reason, count] : lost) sum += count;
  return sum;
}

bool Sampling::targets_ended() const {
  return parts_->targets_ended;
}

const std::vector<uint32_t>& Sampling::ended_early() const {
  return parts_->targets.ended_early();
}

Sampling::Counters Sampling::counters() const {
  const KernelCounters count = parts_->sampler->counters();
  Counters out;
  out.samples = count[VESTA_COUNT_SAMPLES];
  out.lost = parts_->lost_in_kernel();
  out.lost.emplace_back(SampleQueue::kDropped, parts_->queue.dropped());
  out.troubles = {{"kernel stack not taken", count[VESTA_COUNT_KERNEL_STACK_FAILED]},
                  {"process outside of this pid namespace", count[VESTA_COUNT_OTHER_NAMESPACE]},
                  {"process event lost", parts_->side_band->counters().lost}};
  return out;
}

void Sampling::set_frequency(uint32_t frequency) {
  parts_->wanted_frequency = frequency;
}
uint32_t Sampling::frequency() const {
  return parts_->frequency;
}
uint64_t Sampling::period_ns() const {
  return parts_->period_ns;
}
Sampling::Rounds Sampling::rounds() const {
  return {parts_->collecting_rounds, parts_->naming_rounds};
}
uint64_t Sampling::oldest_unnamed_ns() const {
  uint64_t oldest = parts_->oldest_waiting_ns;
  if (const uint64_t queued = parts_->queue.oldest_ns(); queued != 0)
    oldest = std::min(oldest, queued);
  const uint64_t now = monotonic_ns();
  return now > oldest ? now - oldest : 0;
}
Sampling::Sizes Sampling::sizes() const {
  return {parts_->process_count, parts_->module_count};
}

Sampling::Cost Sampling::cost() const {
  Cost cost;
  for (std::jthread* thread : {&parts_->collector, &parts_->namer}) {
    clockid_t clock = 0;
    if (thread->joinable() && ::pthread_getcpuclockid(thread->native_handle(), &clock) == 0)
      cost.own_ns += clock_ns(clock);
  }
  cost.own_ns += parts_->loader->cpu_ns();
  const KernelRunTime kernel = parts_->sampler->run_time();
  cost.bpf_ns = kernel.ns;
  cost.bpf_runs = kernel.runs;
  return cost;
}

const PerfClock& Sampling::clock() const {
  return parts_->clock;
}
uint64_t Sampling::began_ns() const {
  return parts_->sampling_ns;
}
uint64_t Sampling::began_unix_ns() const {
  return parts_->start_unix_ns;
}
uint64_t Sampling::first_sample_ns() const {
  return parts_->first_sample_ns;
}
const std::string& Sampling::cache_problem() const {
  return parts_->cache_problem;
}

}  // namespace vesta
