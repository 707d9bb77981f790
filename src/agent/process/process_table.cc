#include "agent/process/process_table.h"

#include <sys/mman.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "agent/process/target_file.h"
#include "agent/process/tracked_process.h"
#include "base/clock.h"

namespace vesta::agent {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kMaintainScanNs = 20 * kMillisecond;
constexpr size_t kVerifyAtOnce = 512;
// Nothing should be missed without a word of it; this is for what should not be.
constexpr uint64_t kVerifyEveryNs = 300'000 * kMillisecond;
constexpr size_t kMaxMissing = 4096;
constexpr size_t kMaxNames = 4096;
constexpr size_t kMaxSpaces = 8;
constexpr uint32_t kMaxPid = 1U << 22;
// Reading what exec may have changed costs some 50 us: at most 200 times per second, in bursts of
// as many.
constexpr uint64_t kDetailCostNs = 5 * kMillisecond;
constexpr uint64_t kDetailBurstNs = 1000 * kMillisecond;
constexpr std::string_view kAnonymous = "//anon";

bool is_zombie(const ProcStat& stat) {
  return (stat.state == 'Z' || stat.state == 'X') && stat.threads <= 1;
}

// What the kernel writes behind the path of a file that has no name any more.
std::string_view without_deleted(std::string_view path) {
  constexpr std::string_view kMark = " (deleted)";
  if (path.ends_with(kMark)) path.remove_suffix(kMark.size());
  return path;
}

bool is_real_pid(uint32_t pid) {
  return pid != 0 && pid <= kMaxPid;
}

}  // namespace

ProcessTable::ProcessTable(ModuleRegistry& registry, ProcessTableOptions options)
    : registry_(registry), options_(std::move(options)) {
  if (!options_.clock) options_.clock = monotonic_ns;
}

ProcessTable::~ProcessTable() = default;

// ---- who there is

ProcessTable::Tracked* ProcessTable::living(uint32_t pid) {
  const auto it = slots_.find(pid);
  if (it == slots_.end()) return nullptr;
  Tracked* latest = it->second->latest.get();
  return latest != nullptr && latest->exit_ns == kStillAlive ? latest : nullptr;
}

ProcessTable::Tracked* ProcessTable::at_time(uint32_t pid, uint64_t time_ns) const {
  const auto it = slots_.find(pid);
  if (it == slots_.end()) return nullptr;
  Tracked* latest = it->second->latest.get();
  if (latest != nullptr && time_ns >= latest->start_ns) return latest;
  for (const auto& old : it->second->older) {
    if (time_ns >= old->start_ns && time_ns <= old->exit_ns) return old.get();
  }
  return nullptr;
}

const Process* ProcessTable::process(uint32_t pid) const {
  const auto it = slots_.find(pid);
  return it == slots_.end() ? nullptr : it->second->latest.get();
}

const Process* ProcessTable::sampled(uint32_t pid, uint64_t time_ns) {
  Tracked* process = at_time(pid, time_ns);
  if (process != nullptr && !process->has_details && process->exit_ns == kStillAlive)
    read_details(*process);
  return process;
}

ProcessTable::Tracked* ProcessTable::add(uint32_t pid, uint64_t known_ns) {
  if (!is_real_pid(pid)) return nullptr;
  if (count_ >= options_.max_processes) {
    // Those that have ended go first, before their time.
    if (!ended_.empty()) expire(ended_.front().first + options_.keep_after_exit_ns + 1);
    if (count_ >= options_.max_processes) {
      ++counters_.processes_refused;
      return nullptr;
    }
  }
  auto& slot = slots_[pid];
  if (slot == nullptr) slot = std::make_unique<Slot>();
  // Not before the one that had the id last has ended, whatever else is known.
  const uint64_t start_ns = slot->latest == nullptr ? 0 : slot->latest->exit_ns + 1;
  if (slot->latest != nullptr) slot->older.push_back(std::move(slot->latest));
  slot->latest = std::make_unique<Tracked>();
  Tracked& added = *slot->latest;
  added.pid = pid;
  added.start_ns = start_ns;
  added.known_ns = known_ns;
  added.loss_generation = loss_generation_;
  added.rescan_interval_ns = options_.rescan_min_ns;
  added.spaces.push_back(
      {start_ns, std::make_shared<MappingHistory>(registry_, options_.mappings)});
  ++count_;
  return &added;
}

ProcessTable::Tracked* ProcessTable::discover(uint32_t pid) {
  if (!is_real_pid(pid)) return nullptr;
  const uint64_t now = options_.clock();
  if (const auto it = missing_.find(pid); it != missing_.end()) {
    if (now < it->second + options_.rescan_min_ns) return nullptr;
    missing_.erase(it);
  }
  const auto dir = ProcDir::open(options_.proc_root, pid);
  const auto text = dir ? dir->read("stat") : Result<std::string>(dir.error());
  const auto stat = text ? parse_proc_stat(*text) : std::nullopt;
  // The end of a zombie has been told already.
  if (!stat || is_zombie(*stat)) {
    if (missing_.size() >= kMaxMissing) missing_.clear();
    missing_[pid] = now;
    return nullptr;
  }
  Tracked* added = add(pid, now);
  if (added != nullptr) read_stat(*added, *stat);
  return added;
}

ProcessTable::Tracked* ProcessTable::known_or_discovered(uint32_t pid, uint64_t time_ns) {
  if (Tracked* known = living(pid)) return known;
  // News that are older than the end of the process are about that one; nothing to add.
  const auto it = slots_.find(pid);
  if (it != slots_.end() && time_ns <= it->second->latest->exit_ns) return nullptr;
  if (Tracked* found = discover(pid)) return found;
  // It has ended by now; its end will be told, too, unless that was lost.
  to_verify_.push_back(pid);
  return add(pid, time_ns);
}

void ProcessTable::read_stat(Tracked& process, const ProcStat& stat) {
  process.comm = stat.comm;
  process.parent = stat.parent;
  process.threads = stat.threads;
  process.start_ticks = stat.start_ticks;
  process.is_kernel_thread = stat.is_kernel_thread;
  process.is_read = stat.is_kernel_thread;
}

void ProcessTable::read_details(Tracked& process) {
  process.has_details = true;
  ++counters_.details_read;
  const auto dir = ProcDir::open(options_.proc_root, process.pid);
  if (!dir) return;
  if (process.start_ticks != 0) {
    const auto text = dir->read("stat");
    const auto stat = text ? parse_proc_stat(*text) : std::nullopt;
    if (!stat || stat->start_ticks != process.start_ticks) return;  // another process by now
  }
  // After an exec the kernel told of the program with its mapping.
  if (!process.has_exe || process.exe.empty()) {
    if (const auto exe = dir->read_link("exe")) process.exe = without_deleted(*exe);
  }
  // A copy, which takes no more than it needs.
  if (const auto text = dir->read("cgroup")) process.cgroup = *text;
  if (const auto text = dir->read("status")) {
    const ProcStatus status = parse_proc_status(*text);
    process.uid = status.uid;
    process.ns_pid = status.ns_pid;
  }
  process.root = registry_.root_of(process.pid);
}

void ProcessTable::retire(Tracked& process, uint64_t time_ns) {
  if (process.exit_ns != kStillAlive) return;
  process.exit_ns = time_ns;
  ended_.emplace_back(time_ns, process.pid);
  gone_.push_back(process.pid);
}

void ProcessTable::expire(uint64_t now_ns) {
  while (!ended_.empty()) {
    const auto [exit_ns, pid] = ended_.front();
    if (exit_ns + options_.keep_after_exit_ns >= now_ns) return;
    ended_.pop_front();
    const auto it = slots_.find(pid);
    if (it == slots_.end()) continue;
    Slot& slot = *it->second;
    count_ -= std::erase_if(slot.older,
                            [&, at = exit_ns](const auto& old) { return old->exit_ns == at; });
    if (slot.latest != nullptr && slot.latest->exit_ns == exit_ns) {
      slot.latest.reset();
      --count_;
      if (!slot.older.empty()) {
        slot.latest = std::move(slot.older.back());
        slot.older.pop_back();
      }
    }
    if (slot.latest == nullptr) slots_.erase(it);
  }
}

// ---- events

void ProcessTable::apply(const SideBandEvent& event) {
  const uint64_t time_ns = time_of(event);
  if (time_ns > latest_ns_) {
    detail_budget_ns_ = std::min(kDetailBurstNs, detail_budget_ns_ + (time_ns - latest_ns_));
    latest_ns_ = time_ns;
  }
  std::visit([this](const auto& e) { on(e); }, event);
  expire(latest_ns_);
}

void ProcessTable::on(const ForkEvent& event) {
  missing_.erase(event.pid);
  if (event.pid == event.parent_pid) {
    if (Tracked* process = living(event.pid)) {
      // A scan has counted the threads that were there then.
      if (event.time_ns > process->known_ns) ++process->threads;
    }
    return;
  }
  if (Tracked* old = living(event.pid)) {
    if (event.time_ns <= old->known_ns) {
      // Found in /proc before this news arrived.
      old->start_ns = event.time_ns;
      old->parent = event.parent_pid;
      return;
    }
    ++counters_.exits_noticed_late;
    retire(*old, event.time_ns - 1);
  }
  // Before the child is added: that may make room by forgetting a process that has ended.
  Tracked* parent = living(event.parent_pid);
  if (parent == nullptr) parent = discover(event.parent_pid);
  // The child may be gone before anyone reads its mappings: the parent's are the same.
  if (parent != nullptr && !parent->is_read) repair(*parent);
  Tracked* child = add(event.pid, event.time_ns);
  if (child == nullptr) return;
  child->start_ns = event.time_ns;
  child->parent = event.parent_pid;
  child->threads = 1;
  child->spaces.back().start_ns = event.time_ns;
  parent = at_time(event.parent_pid, event.time_ns);
  if (parent == nullptr) return;
  child->comm = parent->comm;
  child->exe = parent->exe;
  child->cgroup = parent->cgroup;
  child->uid = parent->uid;
  child->root = parent->root;
  child->has_details = parent->has_details;
  child->is_kernel_thread = parent->is_kernel_thread;
  child->is_read = parent->is_read;
  const Space* space = parent->space_at(event.time_ns);
  if (space == nullptr || (space->mappings->alive().empty() && !parent->is_read)) return;
  child->spaces.back().mappings = space->mappings;
  if (space->mappings->last_change_ns() > event.time_ns) {
    writable(*child).rewind(event.time_ns);
  }
  note_change(*child);
}

void ProcessTable::on(const CommEvent& event) {
  Tracked* process = known_or_discovered(event.pid, event.time_ns);
  if (process == nullptr) return;
  if (event.tid == event.pid || event.is_exec) process->comm = event.name;
  if (!event.is_exec) return;
  if (process->spaces.back().start_ns >= event.time_ns) return;  // late news
  process->threads = 1;
  process->is_kernel_thread = false;
  // Everything that follows is told by events, so there is nothing to read.
  process->is_read = true;
  process->has_exe = false;
  process->rescan_interval_ns = options_.rescan_min_ns;
  process->next_rescan_ns = 0;
  auto fresh = std::make_shared<MappingHistory>(registry_, options_.mappings);
  if (process->spaces.back().mappings->last_change_ns() > event.time_ns) {
    fresh->take_younger(writable(*process), event.time_ns);
  }
  process->spaces.push_back({event.time_ns, std::move(fresh)});
  process->drop_spaces(latest_ns_ - std::min(latest_ns_, options_.keep_after_exit_ns), kMaxSpaces);
  read_details_after_exec(*process);
  note_change(*process);
}

// Container runtimes change cgroup, user and root between fork and exec. Of a process whose details
// are not read now they are when it is sampled, if it lives that long.
void ProcessTable::read_details_after_exec(Tracked& process) {
  process.has_details = false;
  const std::string parent = process.exe;
  const std::string cgroup = process.cgroup;
  if (detail_budget_ns_ < kDetailCostNs || !detail_trust_.should_look(parent, cgroup)) return;
  detail_budget_ns_ -= kDetailCostNs;
  const uint32_t uid = process.uid;
  const std::shared_ptr<const ProcessRoot> root = process.root;
  read_details(process);
  detail_trust_.note(parent, cgroup,
                     process.cgroup == cgroup && process.uid == uid && process.root == root);
}

void ProcessTable::on(const MmapEvent& event) {
  if ((event.prot & PROT_EXEC) == 0) return;
  Tracked* process = known_or_discovered(event.pid, event.time_ns);
  if (process == nullptr) return;
  if (!process->is_read) repair(*process);
  const Space* space = process->space_at(event.time_ns);
  if (space == nullptr) return;
  MappedFile file;
  file.pid = event.pid;
  file.start = event.address;
  file.end = event.address + event.length;
  file.path = without_deleted(event.path);
  file.build_id = event.build_id;
  file.device = event.device;
  file.inode = event.inode;
  file.root = process->root;
  CodeMapping mapping = resolve_file(*process, file, event.file_offset);
  mapping.born_ns = event.time_ns;
  // The kernel maps the program first, then its loader.
  if (!process->has_exe && mapping.module && file.path.starts_with('/')) {
    process->has_exe = true;
    process->exe = file.path;
  }
  if (space->mappings->is_known(mapping)) return;
  MappingHistory* history = space->mappings.get();
  const bool is_current = space == &process->spaces.back();
  if (is_current) history = &writable(*process);
  switch (history->insert(mapping)) {
    case MappingHistory::Change::kChanged:
      if (is_current) note_change(*process);
      break;
    case MappingHistory::Change::kRefused:
      ++counters_.mappings_refused;
      break;
    case MappingHistory::Change::kNone:
      break;
  }
}

void ProcessTable::on(const ExitEvent& event) {
  Tracked* process = living(event.pid);
  if (process == nullptr || event.time_ns < process->start_ns) return;
  // A scan after it did not count the thread any more.
  if (event.time_ns <= process->known_ns && event.tid != event.pid) return;
  if (process->threads > 0) --process->threads;
  process->is_leader_gone |= event.tid == event.pid;
  if (!process->is_leader_gone) {
    // The first thread is there to the end. A count from /proc may have left this thread out
    // already: threads that come and go all the time cannot be counted to the nanosecond.
    process->threads = std::max(process->threads, 1U);
  } else if (process->threads == 0) {
    retire(*process, event.time_ns);
  } else {
    // Other threads may go on, or the count may be off: see which, later.
    to_verify_.push_back(process->pid);
  }
}

void ProcessTable::on(const LostEvent& event) {
  counters_.lost_events += event.count;
  ++loss_generation_;
  verify_all();
}

// ---- questions

const CodeMapping* ProcessTable::find(uint32_t pid, uint64_t address, uint64_t time_ns) {
  ++counters_.finds;
  Tracked* process = at_time(pid, time_ns);
  if (process == nullptr || time_ns > process->exit_ns) {
    // Nobody told of it: its record was lost, or it was there before us.
    if (living(pid) == nullptr) discover(pid);
    process = at_time(pid, time_ns);
  }
  if (process == nullptr) {
    ++counters_.unknown_process;
    return nullptr;
  }
  if (!process->is_read || process->loss_generation != loss_generation_) repair(*process);
  for (int attempt = 0;; ++attempt) {
    const Space* space = process->space_at(time_ns);
    const CodeMapping* found = space == nullptr ? nullptr : space->mappings->find(address, time_ns);
    if (found != nullptr) return found;
    // Addresses of the kernel are in no mapping, whatever /proc says.
    if (attempt > 0 || address >> 63 != 0 || !repair(*process)) break;
  }
  ++counters_.unknown_address;
  return nullptr;
}

ProcessTable::Snapshot ProcessTable::mappings(uint32_t pid) {
  Tracked* process = living(pid);
  if (process == nullptr) process = discover(pid);
  if (process == nullptr) process = at_time(pid, UINT64_MAX);
  if (process == nullptr) return {};
  if (!process->is_read || process->loss_generation != loss_generation_) repair(*process);
  return {process->version, process->spaces.back().mappings->alive()};
}

void ProcessTable::take_changes(std::vector<uint32_t>& changed, std::vector<uint32_t>& gone) {
  gone = std::exchange(gone_, {});
  changed.clear();
  for (const uint32_t pid : changed_) {
    Tracked* process = living(pid);
    if (process == nullptr || !process->is_changed) continue;
    process->is_changed = false;
    changed.push_back(pid);
  }
  changed_.clear();
}

size_t ProcessTable::memory_bytes() const {
  size_t bytes = 0;
  for (const auto& [pid, slot] : slots_) {
    bytes += sizeof(Slot) + 64;
    const auto count = [&](const Tracked& process) {
      bytes += sizeof(Tracked) + process.exe.capacity() + process.cgroup.capacity();
      for (const Space& space : process.spaces) {
        // Shared by as many processes as there are owners.
        bytes += sizeof(Space) + space.mappings->memory_bytes() /
                                     static_cast<size_t>(std::max(1L, space.mappings.use_count()));
      }
    };
    if (slot->latest != nullptr) count(*slot->latest);
    for (const auto& old : slot->older) count(*old);
  }
  return bytes + names_.size() * 128 + ended_.size() * sizeof(ended_[0]);
}

// ---- upkeep

MappingHistory& ProcessTable::writable(Tracked& process) {
  auto& mappings = process.spaces.back().mappings;
  if (mappings.use_count() > 1) mappings = std::make_shared<MappingHistory>(*mappings);
  return *mappings;
}

void ProcessTable::note_change(Tracked& process) {
  process.version = ++last_version_;
  if (process.is_changed) return;
  process.is_changed = true;
  changed_.push_back(process.pid);
}

std::string_view ProcessTable::intern(std::string_view name) {
  if (name.empty()) return kAnonymous;
  const auto it = names_.find(name);
  if (it != names_.end()) return *it;
  if (names_.size() >= kMaxNames) return kAnonymous;
  return *names_.emplace(name).first;
}

void ProcessTable::maintain() {
  const uint64_t now = options_.clock();
  latest_ns_ = std::max(latest_ns_, now);
  expire(now);
  const uint64_t oldest = now - std::min(now, options_.keep_after_exit_ns);
  for (const auto& [pid, slot] : slots_) {
    Tracked* process = slot->latest.get();
    if (process->spaces.size() > 1) process->drop_spaces(oldest, kMaxSpaces);
    MappingHistory& mappings = *process->spaces.back().mappings;
    if (mappings.dead_count() != 0) mappings.expire(oldest);
  }
  while (!to_read_.empty() && options_.clock() - now < kMaintainScanNs) {
    Tracked* process = living(to_read_.back());
    to_read_.pop_back();
    if (process != nullptr && !process->is_read) repair(*process);
  }
  if (now >= next_verify_ns_) verify_all();
  verify_some(now);
}

void ProcessTable::verify_all() {
  to_verify_.clear();
  to_verify_.reserve(slots_.size());
  for (const auto& [pid, slot] : slots_) to_verify_.push_back(pid);
  next_verify_ns_ = latest_ns_ + kVerifyEveryNs;
}

void ProcessTable::verify_some(uint64_t now_ns) {
  for (size_t i = 0; i < kVerifyAtOnce && !to_verify_.empty(); ++i) {
    const uint32_t pid = to_verify_.back();
    to_verify_.pop_back();
    Tracked* process = living(pid);
    if (process == nullptr) continue;
    const auto dir = ProcDir::open(options_.proc_root, pid);
    const auto text = dir ? dir->read("stat") : Result<std::string>(dir.error());
    const auto stat = text ? parse_proc_stat(*text) : std::nullopt;
    const bool is_other =
        stat && process->start_ticks != 0 && stat->start_ticks != process->start_ticks;
    if (stat && !is_other && !is_zombie(*stat)) {
      process->threads = stat->threads;
      continue;
    }
    ++counters_.exits_noticed_late;
    retire(*process, now_ns);
  }
}

}  // namespace vesta::agent
