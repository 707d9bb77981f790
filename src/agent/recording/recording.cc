#include "agent/recording/recording.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>

#include "agent/cpu/cpu_sampler.h"
#include "agent/process/process_table.h"
#include "agent/process/side_band.h"
#include "agent/recording/sample_queue.h"
#include "agent/recording/sample_resolver.h"
#include "base/clock.h"
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
constexpr uint64_t kMaintainNs = 1'000'000'000;
constexpr uint64_t kReleaseNs = 2'000'000'000;
constexpr uint64_t kMaxTableWaitNs = 10'000'000'000;  // at the end, for the last stacks
// For the tables of what is to be recorded, before the first sample: a stack that waits for its
// table is copied, and a copy ends where the target switched stacks (in a signal handler, say).
constexpr std::chrono::milliseconds kMaxTableHeadStart{2000};
constexpr uint64_t kQueueBytes = 64ULL << 20;

Status check_process(uint32_t pid) {
  if (::kill(static_cast<pid_t>(pid), 0) == 0 || errno == EPERM) return {};
  return Error{ErrorCode::kNotFound, fmt::format("there is no process {}", pid),
               "ps -e lists processes; vesta record -a records all of them"};
}

}  // namespace

struct Recording::Parts {
  explicit Parts(const RecordingOptions& recording_options)
      : options(recording_options),
        slots(CpuSamplerOptions().max_modules),
        queue(kQueueBytes),
        symbolizer(recording_options.symbolizer) {}

  void collect(const std::stop_token& stop);
  void collect_once();
  void drain_side_band();
  void wait_for_tables();
  void name();

  const RecordingOptions options;
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
  Symbolizer symbolizer;
  std::unique_ptr<ProfileBuilder> builder;
  UniqueFd epoll;
  UniqueFd stop_event;
  uint64_t start_ns = 0;
  uint64_t sampling_ns = 0;  // when the first clock began to tick
  uint64_t start_unix_ns = 0;
  uint64_t last_maintain_ns = 0;
  std::atomic<uint64_t> first_sample_ns{0};
  std::string cache_problem;
  std::jthread collector;
  std::jthread namer;
};

void Recording::Parts::drain_side_band() {
  side_band->drain([this](const SideBandEvent& event) {
    processes->apply(event);
    if (const auto* symbol = std::get_if<KsymbolEvent>(&event)) resolver->add(*symbol);
    if (const auto* fork = std::get_if<ForkEvent>(&event)) resolver->note_fork(*fork);
  });
  // Their ids may be given to processes that nobody asked for.
  for (const uint32_t pid : resolver->publish_changes()) sampler->remove_target(pid);
}

void Recording::Parts::collect_once() {
  // Processes before samples: an event that is older than a sample must be known when the sample is
  // looked up.
  drain_side_band();
  (void)sampler->drain([this](const SampleRecord& record) {
    if (first_sample_ns == 0) first_sample_ns = record.head.time_ns - start_ns;
    resolver->add(record);
  });
  ResolvedSamples samples = resolver->take();
  if (!samples.empty()) queue.push(std::move(samples));
}

void Recording::Parts::collect(const std::stop_token& stop) {
  std::array<epoll_event, 8> events{};
  uint64_t next_drain_ns = 0;
  while (!stop.stop_requested()) {
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
      next_drain_ns = monotonic_ns() + kDrainMs * 1'000'000ULL;
    }
    if (monotonic_ns() - last_maintain_ns > kMaintainNs) {
      last_maintain_ns = monotonic_ns();
      processes->maintain();
      (void)sampler->update_cpus();
      (void)side_band->update_cpus();
    }
  }
  sampler->stop();
  collect_once();
  wait_for_tables();
  queue.push(resolver->take());
  queue.close();
}

void Recording::Parts::wait_for_tables() {
  const uint64_t deadline = monotonic_ns() + kMaxTableWaitNs;
  while (resolver->is_waiting() && monotonic_ns() < deadline) {
    epoll_event event{};
    (void)::epoll_wait(epoll.get(), &event, 1, kDrainMs);
    drain_side_band();
    loader->clear_ready();
    resolver->retry();
  }
  resolver->give_up_waiting();
}

void Recording::Parts::name() {
  uint64_t released_ns = monotonic_ns();
  while (std::optional<ResolvedSamples> samples = queue.pop()) {
    builder->add(*samples);
    // Files stay mapped for the next name; what was read of them need not stay in memory.
    if (monotonic_ns() - released_ns < kReleaseNs) continue;
    symbolizer.release_pages();
    ::malloc_trim(0);
    released_ns = monotonic_ns();
  }
}

Recording::Recording(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Recording::~Recording() {
  if (parts_ == nullptr || !parts_->collector.joinable()) return;
  parts_->collector.request_stop();
  parts_->collector.join();
  parts_->namer.join();
}

Result<std::unique_ptr<Recording>> Recording::start(const RecordingOptions& options) {
  const RaisedPriority priority;
  for (const uint32_t pid : options.pids) VESTA_TRY(check_process(pid));
  auto parts = std::make_unique<Parts>(options);
  parts->start_ns = monotonic_ns();

  CpuSamplerOptions sampling;
  sampling.frequency = options.frequency;
  sampling.clock = options.clock;
  sampling.kernel_stacks = options.kernel_stacks;
  sampling.only_targets = !options.whole_host;
  sampling.ring_bytes = options.ring_bytes;
  VESTA_ASSIGN(parts->sampler, CpuSampler::load(sampling));
  // Reading the kernel's types took some 10 MB that are free now, but would stay ours.
  ::malloc_trim(0);
  for (const uint32_t pid : options.pids) VESTA_TRY(parts->sampler->add_target(pid));
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
  resolving.targets = options.pids;
  parts->resolver =
      std::make_unique<SampleResolver>(*parts->processes, parts->registry, *parts->loader,
                                       parts->slots, &*parts->kernel_processes, resolving);
  ProfileBuilderOptions building;
  building.per_thread = options.per_thread;
  building.process_frames = options.process_frames;
  building.period_ns = parts->sampler->clock().period_ns;
  parts->builder = std::make_unique<ProfileBuilder>(parts->symbolizer, building);

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
  parts->processes->scan();
  parts->resolver->begin();
  (void)parts->loader->wait_until_idle(kMaxTableHeadStart);
  parts->start_unix_ns = clock_ns(CLOCK_REALTIME);
  parts->sampling_ns = monotonic_ns();
  VESTA_TRY(parts->sampler->start());
  Parts* const raw = parts.get();
  parts->namer = std::jthread([raw] { raw->name(); });
  parts->collector = std::jthread([raw](const std::stop_token& stop) { raw->collect(stop); });
  return std::unique_ptr<Recording>(new Recording(std::move(parts)));
}

Recording::Progress Recording::progress() const {
  Progress progress;
  const KernelCounters count = parts_->sampler->counters();
  progress.samples = count[VESTA_COUNT_SAMPLES];
  progress.lost =
      count[VESTA_COUNT_RING_FULL] + count[VESTA_COUNT_NO_SCRATCH] + parts_->queue.dropped();
  progress.coverage = parts_->builder->coverage();
  return progress;
}

Recording::Facts Recording::facts() const {
  return {parts_->sampler->clock(), parts_->first_sample_ns, parts_->symbolizer.kernel_problem(),
          parts_->cache_problem};
}

Result<ProfileBatch> Recording::finish() {
  const uint64_t end_ns = monotonic_ns();
  parts_->collector.request_stop();
  const uint64_t one = 1;
  (void)!::write(parts_->stop_event.get(), &one, sizeof(one));
  parts_->collector.join();
  parts_->namer.join();
  ProfileBuilder& builder = *parts_->builder;
  const KernelCounters count = parts_->sampler->counters();
  builder.add_lost("sample ring full", count[VESTA_COUNT_RING_FULL]);
  builder.add_lost("no scratch memory", count[VESTA_COUNT_NO_SCRATCH]);
  builder.add_lost("damaged record", parts_->sampler->damaged_records());
  builder.add_lost("naming too slow", parts_->queue.dropped());
  builder.add_loss("kernel stack not taken", count[VESTA_COUNT_KERNEL_STACK_FAILED]);
  builder.add_loss("process outside of this pid namespace", count[VESTA_COUNT_OTHER_NAMESPACE]);
  builder.add_loss("process event lost", parts_->side_band->counters().lost);
  return builder.finish(static_cast<int64_t>(parts_->start_unix_ns),
                        static_cast<int64_t>(end_ns - parts_->sampling_ns));
}

}  // namespace vesta
