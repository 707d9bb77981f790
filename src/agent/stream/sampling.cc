#include "agent/stream/sampling.h"

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
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "agent/kernel/kernel_session.h"
#include "agent/process/process_table.h"
#include "agent/process/side_band.h"
#include "agent/stream/sample_queue.h"
#include "agent/stream/sample_resolver.h"
#include "agent/stream/thread_stack.h"
#include "base/clock.h"
#include "base/thread_name.h"
#include "unwind/table_cache.h"

namespace vesta::agent {
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
// Free memory that is given back more often than this is needed again, and costs a fault for each
// page. One fault brings back many pages of a file.
constexpr uint64_t kTrimNs = 10'000'000'000;
constexpr uint64_t kTellAgainNs = 300'000'000'000;
// From the time stamp of a sample until its record can be read: the kernel walks the stack between.
constexpr uint64_t kRecordDelayNs = 50'000'000;
// Events that go on are cut at each full second of the wall clock, where windows end. They belong to
// the window before: a little earlier than the cut, because the wall clock and the one of samples
// may run apart by so much; and later than what is said to be complete.
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kCutMarginNs = 20'000'000;
static_assert(kCutMarginNs < kRecordDelayNs);
// Shorter ones are told as a whole when they end, which is much cheaper.
constexpr uint64_t kMinCutAgeNs = 500'000'000;
constexpr uint64_t kMostCutsAtOnce = 10;
constexpr size_t kWaitingStackBytes = VESTA_STACK_COPY_BYTES;

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
        slots(KernelSessionOptions().max_modules),
        queue(sampling_options.queue_bytes) {}

  void collect(const std::stop_token& stop);
  void collect_once();
  void hand_over(uint64_t drained_ns);
  void count_lost();
  void drain_side_band();
  void wait_for_tables();
  Status load_probes();
  void follow_rates();
  void cut_open_events(uint64_t time_ns, uint64_t older_than_ns);
  void cut_at_full_second();
  void name();
  // By probe and reason, so far.
  std::vector<LostEvents> lost_in_kernel() const;

  const SamplingOptions options;
  SamplingTargets targets;  // none for the whole host
  std::unique_ptr<KernelSession> session;
  struct ActiveProbe {
    std::unique_ptr<Probe> probe;
    ProbeSource source;
    std::atomic<uint32_t> wanted_rate{0};
    std::atomic<uint32_t> rate{0};
    std::atomic<uint64_t> period{0};
  };
  std::deque<ActiveProbe> probes;
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
  uint64_t start_ns = 0;
  uint64_t sampling_ns = 0;  // when the first probe began
  uint64_t start_unix_ns = 0;
  uint64_t last_maintain_ns = 0;
  uint64_t last_told_ns = 0;
  uint64_t last_cut_second = 0;  // of Unix time
  std::atomic<bool> targets_ended{false};
  std::atomic<uint64_t> first_sample_ns{0};
  // All that was sampled before has been pushed into the queue.
  std::atomic<uint64_t> collected_until_ns{0};
  std::atomic<uint64_t> oldest_waiting_ns{UINT64_MAX};                 // for a table
  std::map<std::pair<uint32_t, std::string>, LostEvents> lost_before;  // of the collecting thread
  std::vector<LostEvents> lost;                                        // to be handed over
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
  for (const uint32_t pid : resolver->publish_changes()) session->remove_target(pid);
}

void Sampling::Parts::cut_at_full_second() {
  const uint64_t unix_ns = clock_ns(CLOCK_REALTIME);
  const uint64_t now = monotonic_ns();
  const uint64_t second = unix_ns / kSecondNs;
  // All that went by since, in case this thread was kept from running: one may be a window's end.
  // Not those of a clock that was set.
  const uint64_t last = std::exchange(last_cut_second, second);
  const uint64_t first =
      last < second ? std::max(last + 1, second - std::min(second, kMostCutsAtOnce)) : second + 1;
  for (uint64_t at = first; at <= second; ++at) {
    const uint64_t time_ns = now - (unix_ns - at * kSecondNs);
    if (time_ns > sampling_ns) cut_open_events(time_ns, time_ns - kMinCutAgeNs);
  }
}

void Sampling::Parts::cut_open_events(uint64_t time_ns, uint64_t older_than_ns) {
  for (uint32_t number = 0; number < probes.size(); ++number) {
    const auto add = [&](const OpenEvent& event) {
      vesta_sample head{};
      head.probe = static_cast<uint8_t>(number);
      head.pid = event.thread.pid;
      head.tid = event.thread.tid;
      head.time_ns = time_ns - kCutMarginNs;
      head.detail = event.detail;
      head.object = event.object;
      head.link = event.link;
      std::ranges::copy(event.values, head.values);
      std::memcpy(head.comm, event.thread.comm, sizeof(head.comm));
      if (resolver->add_again(head, event.thread.switches)) return;
      const ThreadRecord record = copy_thread(event.thread, kWaitingStackBytes, &head);
      (void)parse_sample(record.bytes, record.more_stack, [&](const SampleRecord& parsed) {
        resolver->add_waiting(parsed, event.thread.switches);
      });
    };
    (void)probes[number].probe->cut(time_ns, older_than_ns, add);
  }
  resolver->forget_waiting();
}

void Sampling::Parts::collect_once() {
  const uint64_t began_ns = monotonic_ns();
  cut_at_full_second();
  // Processes before samples: an event that is older than a sample must be known when the sample is
  // looked up.
  drain_side_band();
  (void)session->drain([this](const SampleRecord& record) {
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
  for (const LostEvents& events : lost_in_kernel()) {
    LostEvents& before = lost_before[{events.probe, events.reason}];
    if (events.count != before.count) {
      lost.push_back({events.probe, events.reason, events.count - before.count, monotonic_ns(),
                      events.value - before.value});
    }
    before = events;
  }
}

std::vector<LostEvents> Sampling::Parts::lost_in_kernel() const {
  std::vector<LostEvents> out;
  for (uint32_t probe = 0; probe < probes.size(); ++probe) {
    const KernelCounters count = session->counters(probe);
    out.push_back({probe, "sample ring full", count[VESTA_COUNT_RING_FULL], 0,
                   count[VESTA_COUNT_RING_FULL_VALUE]});
    out.push_back({probe, "no scratch memory", count[VESTA_COUNT_NO_SCRATCH], 0,
                   count[VESTA_COUNT_NO_SCRATCH_VALUE]});
  }
  // Nobody can tell whose they were.
  out.push_back({0, "damaged record", session->damaged_records(), 0});
  return out;
}

void Sampling::Parts::collect(const std::stop_token& stop) {
  std::array<epoll_event, 8> events{};
  uint64_t next_drain_ns = 0;
  while (!stop.stop_requested()) {
    ++collecting_rounds;
    follow_rates();
    const uint64_t now = monotonic_ns();
    const int wait_ms =
        next_drain_ns > now ? static_cast<int>((next_drain_ns - now) / 1'000'000) + 1 : 0;
    const int count =
        ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), wait_ms);
    bool ring_is_filling = false;
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == side_band->fd()) drain_side_band();
      if (fd == session->ring_fd()) ring_is_filling = true;
      if (fd == loader->ready_fd()) {
        loader->clear_ready();
        resolver->retry();
      }
    }
    if (ring_is_filling || monotonic_ns() >= next_drain_ns) {
      collect_once();
      if (!options.whole_host && !targets_ended) targets_ended = targets.have_ended(*session);
      next_drain_ns = monotonic_ns() + kDrainMs * 1'000'000ULL;
    }
    if (monotonic_ns() - last_maintain_ns > kMaintainNs) {
      last_maintain_ns = monotonic_ns();
      processes->maintain();
      if (!options.whole_host) targets.follow(*session, *resolver);
      count_lost();
      resolver->give_up_waiting(last_maintain_ns -
                                std::min(last_maintain_ns, options.table_wait_ns));
      for (ActiveProbe& active : probes) {
        (void)active.probe->maintain();
        active.period = active.probe->period();
      }
      (void)side_band->update_cpus();
      process_count = processes->size();
      module_count = registry.size();
      if (last_maintain_ns - last_told_ns > kTellAgainNs) {
        last_told_ns = last_maintain_ns;
        resolver->tell_modules_again();
      }
    }
  }
  cut_open_events(monotonic_ns(), UINT64_MAX);
  for (const ActiveProbe& active : probes) active.probe->stop();
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

Status Sampling::Parts::load_probes() {
  for (const ProbeRequest& request : options.probes) {
    const auto number = static_cast<uint32_t>(probes.size());
    ActiveProbe& active = probes.emplace_back();
    VESTA_ASSIGN(active.probe, request.kind->load(*session, number, request.options));
    active.wanted_rate = active.rate = request.options.rate;
    active.period = active.probe->period();
    active.source = active.probe->source();
  }
  return {};
}

void Sampling::Parts::follow_rates() {
  for (ActiveProbe& active : probes) {
    const uint32_t wanted = active.wanted_rate;
    if (wanted == active.rate || !active.probe->set_rate(wanted).ok()) continue;
    active.rate = wanted;
    active.period = active.probe->period();
  }
}

void Sampling::Parts::name() {
  uint64_t tidied_ns = monotonic_ns();
  uint64_t trimmed_ns = tidied_ns;
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
    const bool is_to_trim = consumer->tidy();
    tidied_ns = monotonic_ns();
    consumer->release_pages();
    if (!is_to_trim && tidied_ns - trimmed_ns < kTrimNs) continue;
    ::malloc_trim(0);
    trimmed_ns = tidied_ns;
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

  KernelSessionOptions session;
  session.only_targets = !options.whole_host;
  session.cgroups = parts->targets.kernel_cgroups();
  session.ring_bytes = options.ring_bytes;
  const RaisedPriority priority;
  VESTA_ASSIGN(parts->session, KernelSession::load(session));
  VESTA_TRY(parts->load_probes());
  // Reading the kernel's types took some 10 MB that are free now, but would stay ours.
  ::malloc_trim(0);
  VESTA_TRY(parts->targets.hand_to(*parts->session));
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
  parts->kernel_tables.emplace(parts->session->maps());
  parts->kernel_processes.emplace(parts->session->maps());
  parts->loader = std::make_unique<TableLoader>(
      &*parts->kernel_tables, parts->cache ? &*parts->cache : nullptr, options.tables);
  SampleResolverOptions resolving;
  resolving.targets = parts->targets.processes();
  parts->resolver =
      std::make_unique<SampleResolver>(*parts->processes, parts->registry, *parts->loader,
                                       parts->slots, &*parts->kernel_processes, resolving);

  parts->epoll = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
  parts->stop_event = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  for (const int fd : {parts->side_band->fd(), parts->session->ring_fd(), parts->loader->ready_fd(),
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
    VESTA_TRY(parts.targets.drop_ended(*parts.session, *parts.resolver));
  parts.start_unix_ns = clock_ns(CLOCK_REALTIME);
  parts.sampling_ns = monotonic_ns();
  parts.last_told_ns = parts.sampling_ns;
  VESTA_TRY(parts.session->follow());
  for (const Parts::ActiveProbe& active : parts.probes) VESTA_TRY(active.probe->start());
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
  KernelCounters count{};
  for (uint32_t probe = 0; probe < parts_->probes.size(); ++probe) {
    const KernelCounters own = parts_->session->counters(probe);
    for (size_t i = 0; i < count.size(); ++i) count[i] += own[i];
  }
  Counters out;
  out.samples = count[VESTA_COUNT_SAMPLES];
  out.lost = {{"sample ring full", count[VESTA_COUNT_RING_FULL]},
              {"no scratch memory", count[VESTA_COUNT_NO_SCRATCH]},
              {"damaged record", parts_->session->damaged_records()},
              {std::string(SampleQueue::kDropped), parts_->queue.dropped()}};
  out.troubles = {{"kernel stack not taken", count[VESTA_COUNT_KERNEL_STACK_FAILED]},
                  {"process outside this pid namespace", count[VESTA_COUNT_OTHER_NAMESPACE]},
                  {"thread not followed: out of memory", count[VESTA_COUNT_NO_STORAGE]},
                  {"waker not told", count[VESTA_COUNT_NO_ENDER]},
                  {"process event lost", parts_->side_band->counters().lost}};
  return out;
}

void Sampling::set_rate(size_t probe, uint32_t rate) {
  parts_->probes[probe].wanted_rate = rate;
}
Sampling::ProbeState Sampling::probe(size_t number) const {
  const Parts::ActiveProbe& active = parts_->probes[number];
  const KernelCounters count = parts_->session->counters(static_cast<uint32_t>(number));
  return {active.source, active.rate, active.period, count[VESTA_COUNT_SAMPLES]};
}
std::vector<ProbeTotal> Sampling::totals(size_t probe) const {
  return parts_->probes[probe].probe->totals();
}
std::vector<uint64_t> Sampling::periods() const {
  std::vector<uint64_t> out;
  for (const Parts::ActiveProbe& active : parts_->probes) out.push_back(active.period);
  return out;
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
  cost.session = parts_->session->run_time();
  for (const Parts::ActiveProbe& active : parts_->probes)
    cost.probes.push_back(active.probe->cost());
  return cost;
}

KernelRunTime Sampling::Cost::bpf() const {
  KernelRunTime sum = session;
  for (const KernelRunTime& probe : probes) {
    sum.ns += probe.ns;
    sum.runs += probe.runs;
  }
  return sum;
}

const std::vector<ProbeRequest>& Sampling::probes() const {
  return parts_->options.probes;
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

}  // namespace vesta::agent
