#include "agent/metadata/process_metadata.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <optional>

#include "agent/metadata/environment.h"
#include "agent/metadata/process_context.h"
#include "agent/metadata/program_name.h"
#include "agent/metadata/targets.h"
#include "agent/process/proc_files.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/text.h"

namespace vesta::agent {
namespace {

// Of one process; what is beyond is not looked at.
constexpr size_t kMaxEnvironmentBytes = 256 * 1024;
constexpr size_t kMaxCommandBytes = 128 * 1024;
constexpr size_t kMaxMountinfoBytes = 256 * 1024;
constexpr uint64_t kMaxMapsBytes = 1 << 20;  // some 10 000 mappings

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kFirstReread = 5 * kSecond;  // libraries are loaded, contexts published by then
constexpr uint64_t kLastReread = 300 * kSecond;
constexpr uint64_t kYoung = kSecond;  // most that start are compilers, shells and their like
constexpr uint64_t kForgetAfter = 600 * kSecond;
constexpr uint64_t kBudgetShare = 100;  // one hundredth of the time
constexpr uint64_t kFrugalBudgetShare = 1000;
constexpr uint32_t kFrugalMaps = 10;             // of new processes, a second
constexpr uint64_t kMaxBudgetNs = kSecond / 20;  // saved up at most
constexpr uint32_t kMaxQuestions = 5;            // to Kubernetes about one process
constexpr std::string_view kKernelService = "kernel";
// What OpenTelemetry's libraries say when nobody gave a name.
constexpr std::string_view kUnknownService = "unknown_service";

std::string own_host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string_view without_deleted(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return path;
}

// The id may be another's by now, or the process another program, which has a turn of its own.
bool is_other_program(const ProcessIdentity& identity, std::string_view executable) {
  return !identity.executable.empty() && !executable.empty() &&
         base_name(identity.executable) != base_name(executable);
}

// What is read of a process for its name: no more than that needs.
std::string read_program(const ProcDir& process, std::string_view executable,
                         std::string_view thread_name) {
  std::string command_line;
  if (needs_command_line(executable, thread_name)) {
    if (auto text = process.read("cmdline", kMaxCommandBytes)) command_line = std::move(*text);
  }
  const auto working_folder = [&] {
    const auto link = process.read_link("cwd");
    return link ? std::string(without_deleted(*link)) : std::string();
  };
  return program_name({executable, thread_name, command_line, working_folder});
}

}  // namespace

// What was read, before Kubernetes and rules are asked.
struct ProcessMetadata::Facts {
  Attributes declared;  // by the process itself
  CgroupIdentity cgroup;
  std::string executable;
  std::string program;  // its name: see program_name()
  Runtime runtime;
  bool is_kernel_thread = false;
  bool is_brief = false;

  size_t memory_bytes() const {
    return vesta::agent::memory_bytes(declared) + executable.capacity() +
           cgroup.container_id.capacity() + cgroup.pod_uid.capacity() + cgroup.unit.capacity() +
           program.capacity();
  }
};

struct ProcessMetadata::Entry {
  uint32_t pid = 0;
  uint32_t index = 0;
  std::string name;
  std::string executable;  // as the identity has it
  Facts facts;
  std::shared_ptr<const ProcessDescription> description;
  uint64_t pods_version = 0;
  uint32_t questions = 0;
  uint64_t read_ns = 0;
  uint64_t next_read_ns = 0;
  uint64_t interval_ns = kFirstReread;
  uint64_t used_ns = 0;
  size_t bytes = 0;
};

ProcessMetadata::ProcessMetadata(Kubernetes& kubernetes, ProcessMetadataOptions options)
    : kubernetes_(kubernetes), runtimes_(options.proc_root) {
  configure(std::move(options));
}

ProcessMetadata::~ProcessMetadata() = default;

void ProcessMetadata::configure(ProcessMetadataOptions options) {
  options_ = std::move(options);
  if (options_.host_name.empty()) options_.host_name = own_host_name();
  if (!options_.clock) options_.clock = monotonic_ns;
  containers_ = ContainerNames(options_.containers);
  while (!entries_.empty()) drop(entries_.begin());
}

ProcessMetadataStats ProcessMetadata::stats() const {
  const MutexLock lock(mutex_);
  return stats_;
}

std::shared_ptr<const ProcessDescription> ProcessMetadata::of(const ProcessIdentity& identity) {
  const uint64_t now_ns = options_.clock();
  const Place place = find_or_add(identity, now_ns);
  Entry& entry = *place;
  entry.used_ns = now_ns;
  reread_if_due(identity, entry, now_ns);
  if (entry.description == nullptr ||
      (entry.facts.cgroup.is_in_container() && entry.pods_version != kubernetes_.pods()->version)) {
    describe(entry);
  }
  std::shared_ptr<const ProcessDescription> out = entry.description;
  keep_limits(now_ns);
  return out;
}

ProcessMetadata::Place ProcessMetadata::find_or_add(const ProcessIdentity& identity,
                                                    uint64_t now_ns) {
  if (const auto it = by_pid_.find(identity.pid); it != by_pid_.end()) {
    const Place place = it->second;
    entries_.splice(entries_.begin(), entries_, place);
    const bool is_same_program = place->executable == identity.executable;
    if (is_same_program && place->index == identity.index && place->name == identity.name)
      return place;
    // A program that calls itself something else all the time is not read each time.
    if (is_same_program && now_ns - place->read_ns < kSecond) {
      place->index = identity.index;
      place->name = identity.name;
      place->description = nullptr;
      return place;
    }
    drop(place);
  }
  Entry entry;
  entry.pid = identity.pid;
  entry.index = identity.index;
  entry.name = identity.name;
  entry.executable = identity.executable;
  const Reading reading = first_reading(identity, now_ns);
  if (!read(identity, entry.facts, reading)) {
    entry.facts.executable = identity.executable;
    entry.facts.program = program_name({identity.executable, identity.name, "", {}});
    entry.facts.cgroup = parse_cgroup(identity.cgroup);
    const MutexLock lock(mutex_);
    ++stats_.gone;
  }
  entry.read_ns = now_ns;
  entry.next_read_ns = now_ns + (reading == Reading::kWhole ? entry.interval_ns : kYoung);
  entries_.push_front(std::move(entry));
  by_pid_[identity.pid] = entries_.begin();
  return entries_.begin();
}

void ProcessMetadata::reread_if_due(const ProcessIdentity& identity, Entry& entry,
                                    uint64_t now_ns) {
  if (now_ns < entry.next_read_ns) return;
  budget_ns_ =
      std::min(kMaxBudgetNs, budget_ns_ + (now_ns - budget_time_ns_) /
                                              (is_frugal_ ? kFrugalBudgetShare : kBudgetShare));
  budget_time_ns_ = now_ns;
  if (budget_ns_ == 0) {
    const MutexLock lock(mutex_);
    ++stats_.postponed;
    return;
  }
  const uint64_t start_ns = monotonic_ns();
  const bool was_brief = entry.facts.is_brief;
  if (was_brief) {
    // The rest was read a moment ago.
    entry.facts.is_brief = false;
    entry.description = nullptr;
    const auto process = ProcDir::open(options_.proc_root, identity.pid);
    const auto link = process ? process->read_link("exe") : Result<std::string>(process.error());
    if (link && !is_other_program(identity, without_deleted(*link)))
      read_memory(*process, identity.pid, entry.facts);
  } else if (Facts facts; read(identity, facts, Reading::kWhole)) {
    entry.facts = std::move(facts);
    entry.description = nullptr;
  }
  // What it cost is taken from what was saved up; the next one may have to wait.
  budget_ns_ -= std::min(budget_ns_, monotonic_ns() - start_ns);
  entry.read_ns = now_ns;
  if (!was_brief) entry.interval_ns = std::min(kLastReread, entry.interval_ns * 2);
  entry.next_read_ns = now_ns + entry.interval_ns;
  const MutexLock lock(mutex_);
  ++stats_.rereads;
}

ProcessMetadata::Reading ProcessMetadata::first_reading(const ProcessIdentity& identity,
                                                        uint64_t now_ns) {
  if (identity.start_ns != 0 && now_ns - identity.start_ns < kYoung) return Reading::kBrief;
  if (!is_frugal_) return Reading::kWhole;
  if (now_ns / kSecond != maps_second_) {
    maps_second_ = now_ns / kSecond;
    maps_read_ = 0;
  }
  return ++maps_read_ <= kFrugalMaps ? Reading::kWhole : Reading::kBrief;
}

bool ProcessMetadata::read(const ProcessIdentity& identity, Facts& facts, Reading reading) {
  const uint64_t start_ns = monotonic_ns();
  const auto process = ProcDir::open(options_.proc_root, identity.pid);
  if (!process) return false;
  facts.is_kernel_thread = identity.is_kernel_thread;
  if (!facts.is_kernel_thread) {
    const auto link = process->read_link("exe");
    // All that has gone from what has ended and was not collected yet.
    if (!link && link.error().code == ErrorCode::kNotFound) return false;
    if (link) facts.executable = without_deleted(*link);
  }
  if (is_other_program(identity, facts.executable)) return false;
  if (!identity.executable.empty()) facts.executable = identity.executable;

  // Read a moment ago, by who follows processes.
  if (reading == Reading::kBrief && !identity.cgroup.empty()) {
    facts.cgroup = parse_cgroup(identity.cgroup);
  } else if (const auto text = process->read("cgroup")) {
    facts.cgroup = parse_cgroup(*text);
  }
  if (!facts.cgroup.is_in_container() && (facts.cgroup.is_hidden || identity.has_own_root)) {
    if (const auto text = process->read("mountinfo", kMaxMountinfoBytes)) {
      CgroupIdentity by_mounts = parse_container_mounts(*text);
      if (by_mounts.is_in_container()) {
        by_mounts.unit = facts.cgroup.unit;
        facts.cgroup = std::move(by_mounts);
      }
    }
  }
  if (!facts.is_kernel_thread) {
    if (const auto text = process->read("environ", kMaxEnvironmentBytes))
      facts.declared = parse_environment(*text, options_.environment);
    facts.program = read_program(*process, facts.executable, identity.name);
    facts.is_brief = reading == Reading::kBrief;
    if (!facts.is_brief) {
      read_memory(*process, identity.pid, facts);
    } else {
      facts.runtime = runtime_of_executable(facts.executable);
    }
  }
  const MutexLock lock(mutex_);
  ++stats_.reads;
  if (reading == Reading::kBrief) ++stats_.brief;
  stats_.read_ns += monotonic_ns() - start_ns;
  return true;
}

void ProcessMetadata::read_memory(const ProcDir& process, uint32_t pid, Facts& facts) {
  MappedRuntimes mapped;
  std::optional<uint64_t> context;
  std::string last_path;  // a file is mapped in several pieces
  const auto lines = process.read_maps(
      [&](const ProcMapping& mapping) {
        if (is_process_context(mapping)) context = mapping.start;
        if (mapping.inode == 0 || mapping.path == last_path) return;
        last_path = mapping.path;
        mapped.note(mapping.path);
      },
      kMaxMapsBytes);
  if (!lines) return;
  facts.runtime = runtimes_.identify(process, pid, facts.executable, mapped);
  if (!context) return;
  const auto published = read_process_context(process, *context);
  if (published) {
    for (const auto& [name, value] : published->resource)
      set_attribute(facts.declared, name, value);
  }
  const MutexLock lock(mutex_);
  ++(published ? stats_.contexts : stats_.bad_contexts);
}

void ProcessMetadata::join_pod(Entry& entry, Attributes& attributes, std::string& service) {
  const CgroupIdentity& cgroup = entry.facts.cgroup;
  if (!cgroup.is_in_container()) return;
  const std::shared_ptr<const PodIndex> pods = kubernetes_.pods();
  entry.pods_version = pods->version;
  const PodContainer* container = pods->container(cgroup.container_id);
  if (container == nullptr && !cgroup.container_name.empty())
    container = pods->container(cgroup.pod_uid, cgroup.container_name);
  std::shared_ptr<const Pod> pod = container != nullptr ? container->pod : nullptr;
  if (pod == nullptr && !cgroup.pod_uid.empty()) pod = pods->pod(cgroup.pod_uid);
  if (!cgroup.pod_uid.empty()) {
    set_attribute(attributes, attribute::kPodUid, cgroup.pod_uid);
    // Sandboxes are in no list, so there is an end to asking.
    if (container == nullptr && kubernetes_.is_enabled() && entry.questions < kMaxQuestions) {
      ++entry.questions;
      kubernetes_.look_again();
    }
  }
  if (pod != nullptr) {
    for (const auto& [name, value] : pod->attributes) set_attribute(attributes, name, value);
    service = pod->service_name;
    if (find_attribute(attributes, attribute::kServiceVersion).empty())
      set_attribute(attributes, attribute::kServiceVersion, pod->service_version);
    if (find_attribute(attributes, attribute::kServiceNamespace).empty()) {
      set_attribute(attributes, attribute::kServiceNamespace,
                    find_attribute(pod->attributes, attribute::kNamespaceName));
    }
  }
  if (container != nullptr) {
    set_attribute(attributes, attribute::kContainerId, container->id);
    set_attribute(attributes, attribute::kContainerRuntime, container->runtime);
    set_attribute(attributes, attribute::kK8sContainerName, container->name);
    if (service.empty()) service = container->name;
  }
}

// What the runtime calls the container, and the name of a service that follows from it.
std::string ProcessMetadata::join_container(const CgroupIdentity& cgroup, Attributes& attributes) {
  if (cgroup.container_id.empty()) return "";
  const ContainerState& state =
      containers_.of(cgroup.runtime, cgroup.container_id, options_.clock());
  set_attribute(attributes, attribute::kContainerName, state.name);
  set_attribute(attributes, attribute::kContainerImage, state.image);
  set_attribute(attributes, attribute::kContainerImageTag, state.image_tag);
  return state.service.empty() ? state.name : state.service;
}

void ProcessMetadata::describe(Entry& entry) {
  const Facts& facts = entry.facts;
  auto out = std::make_shared<ProcessDescription>();
  Attributes& attributes = out->attributes;
  attributes = facts.declared;
  // What we measure wins: inside of a container a process has another id, and another host.
  set_attribute(attributes, attribute::kHostName, options_.host_name);
  set_attribute(attributes, attribute::kProcessPid, std::to_string(entry.pid));
  set_attribute(attributes, attribute::kProcessName, entry.name);
  set_attribute(attributes, attribute::kExecutablePath, facts.executable);
  set_attribute(attributes, attribute::kExecutableName, base_name(facts.executable));
  if (find_attribute(attributes, attribute::kRuntimeVersion).empty()) {
    set_attribute(attributes, attribute::kRuntimeName, facts.runtime.name);
    set_attribute(attributes, attribute::kRuntimeVersion, facts.runtime.version);
  }
  set_attribute(attributes, attribute::kSystemdUnit, facts.cgroup.unit);
  set_attribute(attributes, attribute::kContainerId, facts.cgroup.container_id);
  set_attribute(attributes, attribute::kContainerRuntime, facts.cgroup.runtime);
  set_attribute(attributes, attribute::kContainerName, facts.cgroup.container_name);
  set_attribute(attributes, attribute::kEcsTask, facts.cgroup.ecs_task);
  const std::string container_service = join_container(facts.cgroup, attributes);
  std::string pod_service;
  join_pod(entry, attributes, pod_service);

  std::string program_service;  // set when only the program gives the name
  const std::string_view declared = find_attribute(attributes, attribute::kServiceName);
  if (declared.empty() || declared.starts_with(kUnknownService)) {
    constexpr size_t kProgramCandidate = 3;
    const std::array<std::string_view, 6> candidates = {
        service_of_unit(facts.cgroup.unit),           pod_service, container_service, facts.program,
        facts.is_kernel_thread ? kKernelService : "", entry.name};
    const auto* const found =
        std::ranges::find_if(candidates, [](std::string_view name) { return !name.empty(); });
    set_attribute(attributes, attribute::kServiceName,
                  found != candidates.end() ? *found : std::string_view("unknown"));
    const bool is_of_program = found == candidates.begin() + kProgramCandidate;
    if (is_of_program && !facts.cgroup.is_in_container())
      program_service = find_attribute(attributes, attribute::kServiceName);
    // Rules may ask for the name that would be given without them.
    if (const auto name = configured_service_name(options_.service_names, attributes))
      set_attribute(attributes, attribute::kServiceName, *name);
  }
  out->is_target = vesta::agent::is_target(options_.targets, attributes);
  for (const auto& [name, value] : options_.labels) set_attribute(attributes, name, value);
  if (options_.relabel && out->is_target) {
    out->is_target = options_.relabel(attributes);
    normalize(attributes);
  }
  out->is_plain_program = !program_service.empty() &&
                          find_attribute(attributes, attribute::kServiceName) == program_service;
  out->is_preliminary = facts.is_brief;
  attributes.shrink_to_fit();
  bytes_ -= entry.bytes;
  entry.bytes = sizeof(Entry) + sizeof(ProcessDescription) + facts.memory_bytes() +
                vesta::agent::memory_bytes(attributes);
  bytes_ += entry.bytes;
  entry.description = std::move(out);
}

void ProcessMetadata::keep_limits(uint64_t now_ns) {
  uint64_t evicted = 0;
  // The first entry is the one just asked for.
  while (entries_.size() > 1) {
    const Place last = std::prev(entries_.end());
    const bool is_over = entries_.size() > options_.max_processes || bytes_ > options_.max_bytes;
    if (!is_over && now_ns - last->used_ns < kForgetAfter) break;
    evicted += is_over ? 1 : 0;
    drop(last);
  }
  const MutexLock lock(mutex_);
  stats_.processes = entries_.size();
  stats_.bytes = bytes_;
  stats_.evicted += evicted;
}

void ProcessMetadata::drop(Place place) {
  bytes_ -= place->bytes;
  by_pid_.erase(place->pid);
  entries_.erase(place);
}

}  // namespace vesta::agent
