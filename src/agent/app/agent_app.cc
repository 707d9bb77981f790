#include "agent/app/agent_app.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <filesystem>
#include <set>
#include <thread>

#include "agent/app/exporters.h"
#include "agent/hardening/foreign_folder.h"
#include "agent/hardening/instance_lock.h"
#include "agent/hardening/reduce_privileges.h"
#include "agent/jfr/jfr_folder.h"
#include "agent/kernel/bpf_stats.h"
#include "agent/kernel/online_cpus.h"
#include "agent/limits/cgroup_memory.h"
#include "agent/limits/governor.h"
#include "agent/limits/startup_pages.h"
#include "agent/metadata/process_metadata.h"
#include "agent/probes/off_cpu/take_rate.h"
#include "agent/probes/probe.h"
#include "agent/probes/probe_table.h"
#include "agent/profiles/window_profiler.h"
#include "agent/status/status_page.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/process_metrics.h"
#include "base/thread_name.h"
#include "base/units.h"

namespace vesta::agent {
namespace {

constexpr auto kCareInterval = std::chrono::seconds(1);
// By then all that happens once has happened: programs are loaded, running processes are known.
constexpr uint64_t kRoundsOfStart = 20;
// Between two changes of how many stacks of waits are taken.
constexpr uint64_t kWaitsCareNs = 60'000'000'000;

std::string own_host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string percent_of_core(double share) {
  return fmt::format("{:.2f}% of a core", share * 100);
}

std::string bytes_text(uint64_t bytes) {
  return format_value(static_cast<int64_t>(bytes), "bytes");
}

ProcessMetadataOptions metadata_options(const AgentConfig& config) {
  ProcessMetadataOptions options;
  options.service_names = config.service_names;
  options.targets = config.targets;
  options.environment = config.environment;
  options.labels = config.labels;
  if (!config.relabel.empty()) {
    options.relabel = [rules = config.relabel](Attributes& attributes) {
      return relabel(rules, attributes);
    };
  }
  return options;
}

double cpu_budget_here(const AgentLimits& limits) {
  const auto cpus = online_cpus();
  return cpu_budget(limits, static_cast<uint32_t>(cpus ? cpus->size() : 1));
}

// Kinds of profiles, as the switches of the configuration have them.
std::vector<ProbeRequest> wanted_kinds(const ProfilingConfig& config) {
  std::vector<ProbeRequest> kinds;
  for (const auto& [name, is_wanted] :
       {std::pair{"cpu", config.cpu}, std::pair{"off-cpu", config.off_cpu},
        std::pair{"wall", config.wall}, std::pair{"block", config.block},
        std::pair{"mutex", config.mutex}, std::pair{"mutex-holder", config.mutex}}) {
    if (is_wanted) kinds.push_back(request_probe(*find_probe(name)));
  }
  return kinds;
}

ProbePlan plan_of(std::span<const ProbeRequest> kinds, const ProfilingConfig& config) {
  ProbePlan plan = plan_probes(kinds);
  for (ProbeRequest& probe : plan.probes) {
    probe.options.rate = has_clock(probe) ? config.sample_rate : kFirstTakes;
    probe.options.kernel_stacks = config.symbols.include_kernel;
    probe.options.min_wait_ns = static_cast<uint64_t>(config.off_cpu_min_wait_ns);
    probe.options.kernel_threads = config.off_cpu_kernel_threads;
  }
  return plan;
}

GovernorOptions governor_options(const AgentConfig& config) {
  GovernorOptions options;
  options.cpu_share = cpu_budget_here(config.limits);
  options.rates.clear();
  for (const ProbeRequest& probe :
       plan_of(wanted_kinds(config.profiling), config.profiling).probes) {
    const uint32_t rate = probe.options.rate;
    if (has_clock(probe)) options.rates.push_back({std::min(config.limits.min_rate, rate), rate});
  }
  return options;
}

// What the cgroup allows, of which a part is the kernel's side; refused when that is too little.
Status fit_into_cgroup(const std::optional<CgroupMemory>& cgroup, AgentLimits& limits) {
  if (!cgroup) return {};
  const auto cpus = online_cpus();
  VESTA_TRY(
      check_cgroup_limit(cgroup->limit_bytes(), static_cast<uint32_t>(cpus ? cpus->size() : 1)));
  limits.memory_bytes = std::min(limits.memory_bytes, memory_within(cgroup->limit_bytes()));
  return {};
}

// What agent.limits.memory leaves for each of what grows; the rest is for profiles and queues.
void share_memory(uint64_t limit, WindowProfilerOptions& options) {
  options.symbolizer.max_bytes = limit / 5;
  options.name_cache_bytes = limit / 32;
  options.sampling.queue_bytes = limit / 8;
  // So that a stop takes no longer than options.stop_grace_ns.
  options.sampling.last_table_wait_ns = 3 * kSecond;
}

Result<ProfileFilters> window_filters(const ProfilingConfig& profiling) {
  const FilterConfig& config = profiling.filters;
  ProfileFilters filters;
  filters.fold_idle = profiling.fold_idle;
  VESTA_ASSIGN(filters.hidden, FrameFilter::compile(config.exclude_patterns));
  filters.min_samples = config.min_samples;
  return filters;
}

}  // namespace

struct AgentApp::Running {
  Running(AgentConfig agent_config, AgentParts agent_parts, Log& agent_log)
      : config(std::move(agent_config)),
        parts(std::move(agent_parts)),
        log(agent_log),
        host_name(own_host_name()),
        notifier(ServiceNotifier::from_environment()),
        watchdog(notifier) {}

  Status start();
  Status start_profiler() REQUIRES(mutex);
  void give_up_privileges() REQUIRES(mutex);
  Status start_jfr() REQUIRES(mutex);
  Status start_page() REQUIRES(mutex);
  std::optional<ProcessResource> resource_of(const SampledProcess& process);
  Resource host() const { return {{"host.name", host_name}}; }
  void take_care(const std::stop_token& stop);
  void govern();
  enum class RateChange : uint8_t { kGoverned, kConfigured };
  void set_rates(RateChange change) REQUIRES(mutex);
  void govern_waits() REQUIRES(mutex);
  void note_fixed_cost() REQUIRES(mutex);
  void watch_memory();
  void watch_naming();
  CpuUsage usage() const;
  void note_progress();
  std::vector<std::string> problems() const;
  std::vector<std::string> warnings() const;
  std::vector<std::string> outages() const;
  void warn();
  AgentStatus status() const;
  Status check_reload(const AgentConfig& next) const REQUIRES(mutex);
  Status reload(AgentConfig next);
  void stop(std::chrono::milliseconds grace);

  AgentConfig config GUARDED_BY(mutex);
  AgentParts parts;
  Log& log;
  const std::string host_name;
  ServiceNotifier notifier;
  Watchdog watchdog;
  std::string state;
  std::optional<InstanceLock> lock;
  std::optional<CgroupMemory> cgroup_memory;
  UniqueFd bpf_stats;
  std::unique_ptr<Kubernetes> kubernetes;
  mutable Mutex metadata_mutex;  // taken after mutex
  std::unique_ptr<ProcessMetadata> metadata GUARDED_BY(metadata_mutex);
  std::unique_ptr<Exporters> exporters;
  std::unique_ptr<Exporters> jfr_exporters;  // beside `exporters`, for recordings of JFR alone
  std::unique_ptr<WindowProfiler> profiler;
  std::unique_ptr<JfrFolder> jfr;
  std::unique_ptr<StatusPage> page;
  mutable Mutex mutex;
  std::unique_ptr<Governor> governor GUARDED_BY(mutex);
  Heartbeat* collecting = nullptr;
  Heartbeat* naming = nullptr;
  Sampling::Rounds rounds;
  uint64_t start_ns = 0;
  uint32_t waits_per_second GUARDED_BY(mutex) = kFirstTakes;
  uint64_t waits_changed_ns GUARDED_BY(mutex) = 0;
  std::set<std::string> warned;  // of the caretaker
  bool is_stopped = false;
  std::atomic<bool> is_over_memory{false};
  std::atomic<bool> is_over_cpu{false};
  std::atomic<bool> is_naming_behind{false};
  CondVar wake;
  Mutex wake_mutex;
  std::jthread caretaker;  // last: ends before the rest does
};

Status AgentApp::Running::start() {
  const MutexLock guard(mutex);
  const bool samples = config.profiling.enabled && !wanted_kinds(config.profiling).empty();
  // With a server in the process, the memory is not all ours.
  if (parts.is_alone && samples) cgroup_memory = CgroupMemory::find();
  const uint64_t wanted_bytes = config.limits.memory_bytes;
  VESTA_TRY(fit_into_cgroup(cgroup_memory, config.limits));
  if (config.limits.memory_bytes < wanted_bytes) {
    log.info("memory limit reduced below agent.limits.memory to fit the agent's cgroup",
             {{"limit", bytes_text(config.limits.memory_bytes)},
              {"cgroup", bytes_text(cgroup_memory->limit_bytes())}});
  }
  state = config.state.empty() ? parts.state : config.state;
  std::error_code problem;
  std::filesystem::create_directories(state, problem);
  if (problem) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot create folder {}: {}", state, problem.message()),
                 "set agent.state to another folder"};
  }
  std::filesystem::permissions(state, std::filesystem::perms::owner_all, problem);
  InstanceLockOptions locking;
  locking.state_folder = state;
  locking.whole_host = samples;
  VESTA_ASSIGN(lock, InstanceLock::take(locking));

  ExportEnvironment environment;
  environment.state = state;
  environment.version = parts.version;
  exporters = std::make_unique<Exporters>(environment, log);
  if (parts.exporter != nullptr) exporters->add(std::move(parts.exporter));
  VESTA_TRY(exporters->configure(config.exporters, config.profiling.upload_interval_ns));
  if (exporters->empty() && !config.jfr.log_export) {
    log.warn(
        "no exporters are configured: profiles would be lost",
        {{"hint", "add one to agent.exporters, or use vesta up to store profiles on this host"}});
  }
  jfr_exporters = std::make_unique<Exporters>(environment, log);
  if (config.jfr.log_export) {
    VESTA_TRY(
        jfr_exporters->configure({config.jfr.log_exporter}, config.profiling.upload_interval_ns));
  }

  kubernetes = std::make_unique<Kubernetes>(config.kubernetes);
  {
    const MutexLock describing(metadata_mutex);
    metadata = std::make_unique<ProcessMetadata>(*kubernetes, metadata_options(config));
  }
  start_ns = monotonic_ns();
  if (samples) VESTA_TRY(start_profiler());
  if (config.jfr.enabled) VESTA_TRY(start_jfr());
  if (!config.metrics.empty()) VESTA_TRY(start_page());
  caretaker = std::jthread([this](const std::stop_token& stop) { take_care(stop); });
  if (config.reduce_privileges) give_up_privileges();
  return {};
}

void AgentApp::Running::give_up_privileges() {
  std::vector<std::string> folders = parts.folders;
  folders.push_back(state);
  for (const ExporterConfig& exporter : config.exporters) folders.push_back(exporter.directory);
  std::vector<Capability> keep(kAgentCapabilities.begin(), kAgentCapabilities.end());
  if (const auto foreign = foreign_folder(folders)) {
    keep.push_back(Capability::kDacOverride);
    log.warn("kept the privilege to write files of other users, because a file needs it",
             {{"path", *foreign}, {"hint", "chown the file to the user that runs vesta"}});
  }
  Status reduced = reduce_privileges(keep);
  if (reduced.ok()) reduced = filter_system_calls();
  if (!reduced.ok()) {
    log.warn("cannot drop unneeded privileges", {{"why", reduced.error().message}});
  }
}

Status AgentApp::Running::start_profiler() {
  // Counting costs a little; without it the budget sees our own threads only.
  if (auto counting = count_bpf_run_time(); counting.ok()) bpf_stats = std::move(*counting);
  const ProfilingConfig& profiling = config.profiling;
  WindowProfilerOptions options;
  std::vector<ProbeRequest> kinds = wanted_kinds(profiling);
  const auto plan = [&] {
    ProbePlan planned = plan_of(kinds, profiling);
    options.sampling.probes = std::move(planned.probes);
    options.profiles = std::move(planned.profiles);
  };
  plan();
  options.sampling.whole_host = true;
  options.sampling.cache_folder = parts.cache_folder;
  options.symbolizer.symbols.languages = {profiling.symbols.demangle_cpp,
                                          profiling.symbols.demangle_rust};
  options.duration_ns = profiling.duration_ns;
  share_memory(config.limits.memory_bytes, options);
  VESTA_ASSIGN(options.filters, window_filters(profiling));
  options.resource_of = [this](const SampledProcess& process) { return resource_of(process); };
  options.host = host();
  options.on_window = [this](const ProfileBatch& batch) { exporters->take(batch); };
  collecting = &watchdog.add("collecting");
  naming = &watchdog.add("naming");
  auto started = WindowProfiler::start(options);
  if (!started.ok() && profiling.cpu && kinds.size() > 1) {
    // CPU time needs less of a kernel than the others do.
    const Error problem = started.error();
    std::erase_if(kinds, [](const ProbeRequest& kind) { return kind.kind->name != "cpu"; });
    plan();
    started = WindowProfiler::start(std::move(options));
    if (started.ok()) {
      log.warn("only CPU time is profiled, no waits",
               {{"why", problem.message},
                {"hint",
                 "vesta doctor shows what is missing; to do without, set "
                 "agent.profiling.off_cpu, .wall, .block and .mutex to false"}});
    }
  }
  VESTA_ASSIGN(profiler, std::move(started));
  governor = std::make_unique<Governor>(governor_options(config));
  return {};
}

Status AgentApp::Running::start_jfr() {
  JfrFolderOptions options;
  options.input_dirs = config.jfr.input_dirs;
  options.recursive = config.jfr.recursive;
  options.state_file = state + "/jfr-shipped";
  options.owner.host_name = host_name;
  options.report = [this](const Error& error) {
    log.warn("skipped a recording", {{"why", error.message}, {"hint", error.hint}});
  };
  VESTA_ASSIGN(jfr, JfrFolder::start(options, [this](const ProfileBatch& batch) -> Status {
                 VESTA_TRY(exporters->take_all(batch));
                 return jfr_exporters->take_all(batch);
               }));
  return {};
}

Status AgentApp::Running::start_page() {
  StatusPageOptions options;
  options.address = config.metrics;
  StatusPageContent content;
  content.metrics = [this] { return agent_metrics_text(status()); };
  content.problems = [this] { return problems(); };
  content.warnings = [this] { return outages(); };
  VESTA_ASSIGN(page, StatusPage::start(options, std::move(content)));
  return {};
}

std::optional<ProcessResource> AgentApp::Running::resource_of(const SampledProcess& process) {
  ProcessIdentity identity;
  identity.pid = process.pid;
  identity.index = process.index;
  identity.name = process.name;
  identity.executable = process.executable;
  identity.cgroup = process.cgroup;
  identity.has_own_root = process.root != nullptr;
  identity.is_kernel_thread = process.is_kernel_thread;
  identity.start_ns = process.start_ns;
  const MutexLock guard(metadata_mutex);
  const auto described = metadata->of(identity);
  if (!described->is_target) return std::nullopt;
  ProcessResource resource{described->attributes, described->is_plain_program,
                           described->is_preliminary};
  // Of the kernel's own threads the names tell more than their ids, and those are on the samples.
  if (process.is_kernel_thread) {
    std::erase_if(resource.attributes, [](const auto& item) {
      return item.first == attribute::kProcessPid || item.first == attribute::kProcessName;
    });
  }
  return resource;
}

CpuUsage AgentApp::Running::usage() const {
  CpuUsage usage;
  usage.wall_ns = monotonic_ns();
  if (profiler != nullptr) {
    const Sampling& sampling = profiler->sampling();
    const Sampling::Cost cost = sampling.cost();
    usage.own_ns = cost.own_ns;
    usage.other_bpf_ns = cost.session.ns;
    for (size_t i = 0; i < cost.probes.size(); ++i) {
      if (has_clock(sampling.probes()[i])) {
        usage.probes.push_back({cost.probes[i].ns, sampling.probe(i).samples});
      } else {
        usage.other_bpf_ns += cost.probes[i].ns;
      }
    }
  }
  if (parts.is_alone) usage.own_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  return usage;
}

void AgentApp::Running::govern() {
  if (profiler == nullptr) return;
  const CpuUsage used = usage();
  const MutexLock guard(mutex);
  const uint64_t changes = governor->changes();
  governor->update(used);
  note_fixed_cost();
  if (governor->changes() != changes) set_rates(RateChange::kGoverned);
  govern_waits();
}

// Of waits the budget buys fewer stacks when the agent needs too much: sums stay true, only each
// stack stands for more. What following every thread costs is there at any number.
void AgentApp::Running::govern_waits() {
  const uint64_t now = monotonic_ns();
  if (waits_changed_ns == 0) waits_changed_ns = now;
  if (now - waits_changed_ns < kWaitsCareNs) return;
  const uint32_t next =
      next_takes(waits_per_second, governor->share() / cpu_budget_here(config.limits));
  if (next == waits_per_second) return;
  const Sampling& sampling = profiler->sampling();
  for (size_t i = 0; i < sampling.probes().size(); ++i) {
    if (has_clock(sampling.probes()[i])) continue;
    profiler->set_rate(i, next);
    log.info(next < waits_per_second ? "takes fewer stacks of waiting threads to stay within the "
                                       "CPU budget"
                                     : "takes more stacks of waiting threads again",
             {{"stacks", fmt::format("{} a second", next)},
              {"was", fmt::format("{} a second", waits_per_second)}});
  }
  waits_per_second = next;
  waits_changed_ns = now;
}

// Those that the governor has chosen.
void AgentApp::Running::set_rates(RateChange change) {
  const Sampling& sampling = profiler->sampling();
  size_t governed = 0;
  for (size_t i = 0; i < sampling.probes().size(); ++i) {
    if (!has_clock(sampling.probes()[i])) continue;
    const uint32_t before = sampling.probe(i).rate;
    const uint32_t rate = governor->rate(governed++);
    profiler->set_rate(i, rate);
    if (rate == before) continue;
    log.info(change == RateChange::kConfigured ? "set the configured sampling rate"
             : rate < before ? "lowered the sampling rate to stay within the CPU budget"
                             : "raised the sampling rate again",
             {{"event", std::string(sampling.probes()[i].kind->name)},
              {"rate", fmt::format("{} Hz", rate)},
              {"was", fmt::format("{} Hz", before)},
              {"samples", percent_of_core(governor->sample_share())},
              {"other", percent_of_core(governor->fixed_share())}});
  }
}

// What a lower rate does not change has a measure of its own: less is read about processes.
void AgentApp::Running::note_fixed_cost() {
  const bool is_over = governor->is_fixed_over();
  if (is_over == is_over_cpu.exchange(is_over)) return;
  {
    const MutexLock describing(metadata_mutex);
    metadata->set_frugal(is_over);
  }
  if (!is_over) {
    log.info("within the CPU budget again", {{"other", percent_of_core(governor->fixed_share())}});
    return;
  }
  log.warn(
      "over the CPU budget (agent.limits.cpu); lowering the sampling rate does not help, probably "
      "because many short-lived processes are starting: reading less about processes",
      {{"other", percent_of_core(governor->fixed_share())},
       {"samples", percent_of_core(governor->sample_share())},
       {"agent.limits.cpu", percent_of_core(cpu_budget_here(config.limits))}});
}

void AgentApp::Running::watch_memory() {
  // With a server in the process, the memory is not all ours.
  if (profiler == nullptr || !parts.is_alone) return;
  uint64_t limit = 0;
  {
    const MutexLock guard(mutex);
    limit = config.limits.memory_bytes;
  }
  const uint64_t used = resident_bytes();
  // The kernel's side counts too there, and pages of files that others have read do not.
  const bool is_cgroup_full =
      cgroup_memory && cgroup_memory->unreclaimable_bytes() > cgroup_memory->limit_bytes() / 10 * 8;
  const bool is_over = used > limit || is_cgroup_full;
  if (is_over) profiler->shed();
  if (is_over && !is_over_memory) {
    log.warn("closed symbol tables to stay within the memory limit",
             {{"used", bytes_text(used)}, {"limit", bytes_text(limit)}});
  }
  is_over_memory = is_over;
}

void AgentApp::Running::watch_naming() {
  if (profiler == nullptr) return;
  int64_t window_ns = 0;
  {
    const MutexLock guard(mutex);
    window_ns = config.profiling.duration_ns;
  }
  const uint64_t age_ns = profiler->sampling().oldest_unnamed_ns();
  const bool is_behind = age_ns > static_cast<uint64_t>(window_ns);
  if (is_behind && !is_naming_behind) {
    log.warn("symbolization is more than one window behind",
             {{"oldest_unnamed_sample", fmt::format("{:.0f} s", static_cast<double>(age_ns) / 1e9)},
              {"hint",
               "the disk or the CPU is busy; if vesta_agent_symbol_table_opens_total keeps "
               "growing, raise agent.limits.memory"}});
  } else if (!is_behind && is_naming_behind) {
    log.info("symbolization has caught up");
  }
  is_naming_behind = is_behind;
}

void AgentApp::Running::note_progress() {
  if (profiler == nullptr) return;
  const Sampling::Rounds now = profiler->sampling().rounds();
  if (now.collecting != rounds.collecting) collecting->beat();
  if (now.naming != rounds.naming) naming->beat();
  rounds = now;
}

void AgentApp::Running::take_care(const std::stop_token& stop) {
  name_thread("vesta-care");
  for (uint64_t round = 0; !stop.stop_requested(); ++round) {
    // A server beside it needs its pages.
    if (round == kRoundsOfStart && parts.is_alone) release_startup_pages();
    govern();
    watch_memory();
    watch_naming();
    note_progress();
    exporters->watch();
    jfr_exporters->watch();
    warn();
    watchdog.tick();
    MutexLock guard(wake_mutex);
    wake.wait_for(guard, stop, kCareInterval, [] { return false; });
  }
}

std::vector<std::string> AgentApp::Running::problems() const {
  std::vector<std::string> out;
  for (const std::string& loop : watchdog.stuck()) out.push_back(loop + " is stuck");
  if (is_over_memory) out.emplace_back("over the memory limit (agent.limits.memory)");
  return out;
}

std::vector<std::string> AgentApp::Running::warnings() const {
  std::vector<std::string> out;
  const auto add = [&](std::string_view what, const std::string& why) {
    if (!why.empty()) out.push_back(fmt::format("{}: {}", what, why));
  };
  if (profiler != nullptr) {
    add("kernel functions have no names", profiler->kernel_problem());
    add("a runtime is not supported, its functions have no names", profiler->runtime_problem());
    add("unwind tables are not cached", profiler->sampling().cache_problem());
    if (is_naming_behind) {
      out.emplace_back(
          "symbolization is more than one window behind: profiles are late, and stacks that wait "
          "too long are sent as addresses");
    }
  }
  if (const KubernetesStats stats = kubernetes->stats(); stats.is_enabled)
    add("pods are unknown", stats.last_error);
  return out;
}

std::vector<std::string> AgentApp::Running::outages() const {
  std::vector<std::string> out = exporters->outages();
  for (std::string& outage : jfr_exporters->outages()) out.push_back(std::move(outage));
  return out;
}

// Each once: some of them come back with every request.
void AgentApp::Running::warn() {
  constexpr size_t kMostWarnings = 100;
  for (const std::string& warning : warnings()) {
    if (warned.size() < kMostWarnings && warned.insert(warning).second) log.warn(warning);
  }
}

AgentStatus AgentApp::Running::status() const {
  AgentStatus out;
  out.version = parts.version;
  out.uptime_ns = monotonic_ns() - start_ns;
  const CpuUsage used = usage();
  out.own_cpu_ns = used.own_ns;
  out.resident_bytes = resident_bytes();
  for (const Exporters* some : {exporters.get(), jfr_exporters.get()}) {
    for (auto& [name, stats] : some->stats()) out.exporters.push_back({name, std::move(stats)});
  }
  {
    const MutexLock guard(mutex);
    out.configured_rate = config.profiling.sample_rate;
    out.cpu_budget = cpu_budget_here(config.limits);
    if (governor != nullptr) {
      out.cpu_share = governor->share();
      out.sample_cpu_share = governor->sample_share();
      out.rate_changes = governor->changes();
    }
  }
  if (profiler != nullptr) {
    const Sampling& sampling = profiler->sampling();
    const Sampling::Counters counters = sampling.counters();
    out.samples = counters.samples;
    for (const auto& [reason, count] : counters.lost) out.lost[reason] += count;
    for (const auto& [reason, count] : counters.troubles) out.troubles[reason] += count;
    const KernelRunTime bpf = sampling.cost().bpf();
    out.bpf_ns = bpf.ns;
    out.bpf_runs = bpf.runs;
    out.rate = sampling.probe(0).rate;
    for (size_t i = 0; i < sampling.probes().size(); ++i) {
      if (has_clock(sampling.probes()[i])) continue;
      out.wait_period_ns = sampling.probe(i).period;
      for (const ProbeTotal& total : sampling.totals(i))
        out.waits.push_back({std::string(total.name), total.value, total.count});
    }
    out.processes = sampling.sizes().processes;
    out.modules = sampling.sizes().modules;
    const WindowProfiler::Facts facts = profiler->facts();
    out.windows = facts.windows;
    out.profiles = facts.profiles;
    out.other_samples = facts.other_samples;
    out.folded_frames = facts.folded_frames;
    out.names = {facts.name_hits, facts.name_misses, facts.name_bytes};
    const Symbolizer::Statistics& tables = facts.tables;
    out.tables = {tables.opens, tables.closes, tables.open, tables.bytes, tables.budget_bytes};
    out.oldest_unnamed_ns = sampling.oldest_unnamed_ns();
    out.troubles[std::string(ProfileBuilder::kLate)] = facts.late_stacks;
    out.troubles["sample arrived after its window was sent"] = facts.strays;
    for (const auto& [name, coverage] : facts.coverage) {
      out.binaries.push_back({name, coverage.samples, coverage.complete_stacks, coverage.frames,
                              coverage.named_frames, coverage.decoded_frames,
                              coverage.guessed_frames});
    }
  }
  if (jfr != nullptr) out.jfr = jfr->stats();
  {
    const MutexLock describing(metadata_mutex);
    out.metadata = metadata->stats();
  }
  if (const KubernetesStats stats = kubernetes->stats(); stats.is_enabled) out.kubernetes = stats;
  out.problems = problems();
  out.warnings = warnings();
  if (is_over_cpu) {
    out.warnings.emplace_back(
        "over the CPU budget (agent.limits.cpu) at any sampling rate, probably because many "
        "short-lived processes are starting");
  }
  for (std::string& outage : outages()) out.warnings.push_back(std::move(outage));
  return out;
}

// What a running agent cannot take over.
Status AgentApp::Running::check_reload(const AgentConfig& next) const {
  const auto fixed = [](std::string_view key) {
    return Error{ErrorCode::kUsage, fmt::format("{} cannot change while the agent runs", key),
                 "restart the agent; queued profiles are kept"};
  };
  if (next.state != config.state) return fixed("agent.state");
  if (next.metrics != config.metrics) return fixed("agent.metrics");
  if (next.reduce_privileges != config.reduce_privileges) return fixed("agent.reduce_privileges");
  if (next.profiling.enabled != config.profiling.enabled ||
      next.profiling.cpu != config.profiling.cpu)
    return fixed("agent.profiling.enabled and .cpu");
  if (next.profiling.off_cpu != config.profiling.off_cpu ||
      next.profiling.off_cpu_min_wait_ns != config.profiling.off_cpu_min_wait_ns ||
      next.profiling.off_cpu_kernel_threads != config.profiling.off_cpu_kernel_threads)
    return fixed("agent.profiling.off_cpu");
  if (next.profiling.wall != config.profiling.wall ||
      next.profiling.block != config.profiling.block ||
      next.profiling.mutex != config.profiling.mutex)
    return fixed("agent.profiling.wall, .block and .mutex");
  if (next.profiling.symbols != config.profiling.symbols) return fixed("agent.profiling.symbols");
  if (next.jfr != config.jfr) return fixed("profiles.jfr");
  if (next.kubernetes != config.kubernetes) return fixed("agent.kubernetes");
  return {};
}

Status AgentApp::Running::reload(AgentConfig next) {
  notifier.reloading();
  {
    const MutexLock guard(mutex);
    VESTA_TRY(check_reload(next));
  }
  VESTA_TRY(fit_into_cgroup(cgroup_memory, next.limits));
  VESTA_ASSIGN(ProfileFilters filters, window_filters(next.profiling));
  VESTA_TRY(exporters->configure(next.exporters, next.profiling.upload_interval_ns));
  {
    const MutexLock guard(metadata_mutex);
    metadata->configure(metadata_options(next));
  }
  const MutexLock guard(mutex);
  if (profiler != nullptr) {
    profiler->change(next.profiling.duration_ns, std::move(filters));
    governor = std::make_unique<Governor>(governor_options(next));
    set_rates(RateChange::kConfigured);
  }
  config = std::move(next);
  return {};
}

void AgentApp::Running::stop(std::chrono::milliseconds grace) {
  if (std::exchange(is_stopped, true)) return;
  notifier.stopping();
  caretaker = {};
  page.reset();
  if (jfr != nullptr) jfr->stop();
  if (profiler != nullptr) {
    profiler->stop();
    const Sampling::Counters counters = profiler->sampling().counters();
    const WindowProfiler::Facts facts = profiler->facts();
    const Sampling& sampling = profiler->sampling();
    uint64_t samples = 0;
    uint64_t waits = 0;  // that ended; those that a cut told are not among them
    for (size_t i = 0; i < sampling.probes().size(); ++i)
      (has_clock(sampling.probes()[i]) ? samples : waits) += sampling.probe(i).samples;
    log.info("profiled to the end", {{"samples", std::to_string(samples)},
                                     {"sampled_waits", std::to_string(waits)},
                                     {"lost", std::to_string(counters.lost_total())},
                                     {"of_no_target", std::to_string(facts.other_samples)},
                                     {"windows", std::to_string(facts.windows)}});
  }
  const auto deadline = std::chrono::steady_clock::now() + grace;
  if (exporters != nullptr) exporters->flush(deadline);
  if (jfr_exporters != nullptr) jfr_exporters->flush(deadline);
}

AgentApp::AgentApp(AgentConfig config, AgentParts parts, Log& log)
    : running_(std::make_unique<Running>(std::move(config), std::move(parts), log)) {}

AgentApp::~AgentApp() {
  stop(std::chrono::milliseconds(0));
}

Status AgentApp::start() {
  VESTA_TRY(running_->start());
  running_->notifier.ready();
  return {};
}

Status AgentApp::reload(AgentConfig config) {
  Status done = running_->reload(std::move(config));
  running_->notifier.ready();
  return done;
}

void AgentApp::stop(std::chrono::milliseconds grace) {
  running_->stop(grace);
}

AgentStatus AgentApp::status() const {
  return running_->status();
}

std::string AgentApp::metrics_address() const {
  return running_->page == nullptr ? "" : running_->page->address().text();
}

}  // namespace vesta::agent
