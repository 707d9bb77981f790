// Every process, what code it had mapped at any time of the last seconds, and the files behind
// that. Fed with side-band events; gaps are filled from /proc. Refers to a ModuleRegistry that must
// outlive it. Not thread-safe: one owner thread, which should drain the side band before it looks
// samples up.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/process/detail_trust.h"
#include "agent/process/mapping_history.h"
#include "agent/process/module_registry.h"
#include "agent/process/proc_files.h"
#include "agent/process/side_band_event.h"

namespace vesta::agent {

struct Process {
  uint32_t pid = 0;
  uint32_t parent = 0;
  uint64_t start_ns = 0;  // when it was forked; 0 when it was there before us
  uint64_t exit_ns = kStillAlive;
  uint32_t uid = 0;
  uint32_t ns_pid = 0;  // in its own pid namespace; 0 when not known
  bool is_kernel_thread = false;
  std::string comm;
  std::string exe;                          // path as the process sees it
  std::string cgroup;                       // text of /proc/PID/cgroup
  std::shared_ptr<const ProcessRoot> root;  // null when it sees the same files as we do
};

struct ProcessTableOptions {
  std::string proc_root = "/proc";
  size_t max_processes = 32768;
  MappingHistory::Limits mappings = {};          // per address space
  uint64_t keep_after_exit_ns = 10'000'000'000;  // also for mappings and programs replaced
  uint64_t rescan_min_ns = 100'000'000;          // between two readings of one process
  uint64_t rescan_max_ns = 10'000'000'000;       // … when there was nothing new in the last ones
  uint64_t eager_scan_ns = 200'000'000;          // for reading mappings at the start
  std::function<uint64_t()> clock = {};          // CLOCK_MONOTONIC in ns; that when not set
};

struct ProcessTableCounters {
  uint64_t finds = 0;
  uint64_t unknown_process = 0;  // finds for a process that we know nothing of
  uint64_t unknown_address = 0;  // finds where no mapping covered the address at the time
  uint64_t rescans = 0;
  uint64_t rescans_with_news = 0;
  uint64_t rescans_failed = 0;  // the process had gone
  uint64_t rescans_postponed = 0;
  uint64_t lost_events = 0;
  uint64_t mappings_refused = 0;  // above the limit per process
  uint64_t processes_refused = 0;
  uint64_t exits_noticed_late = 0;  // their event was lost
  uint64_t details_read = 0;        // user, cgroup and root of a process
};

class ProcessTable {
 public:
  explicit ProcessTable(ModuleRegistry& registry, ProcessTableOptions options = {});
  ~ProcessTable();

  // Notes all processes; reads the mappings of as many as there is time for, youngest first. The
  // rest are read when they are needed, when they fork, or by maintain(). To be called once the
  // side-band events are on.
  void scan();
  void apply(const SideBandEvent& event);
  // To be called about once per second: forgets what is too old, goes on with the scan, and after
  // lost events looks who is still there.
  void maintain();

  // The mapping that covered an address at a time; null when there is none. May read /proc, at a
  // limited rate. Valid until the next call that is not const.
  const CodeMapping* find(uint32_t pid, uint64_t address, uint64_t time_ns);

  // Executable mappings of a process now, by address: what the kernel side gets. The version is
  // another after every change. Of a process that ended not long ago, those of its end. Valid until
  // the next call that is not const.
  struct Snapshot {
    uint64_t version = 0;
    std::span<const CodeMapping> mappings;
  };
  Snapshot mappings(uint32_t pid);

  // Processes whose mappings changed and processes that ended since the last call. An id in both
  // ended and was given to a new process: treat `gone` first. To be called regularly.
  void take_changes(std::vector<uint32_t>& changed, std::vector<uint32_t>& gone);

  // The latest process of that id, known even shortly after its end; null when there is none.
  const Process* process(uint32_t pid) const;
  // The one that had the id at a time, which was sampled then: user, cgroup and root are read if it
  // lives and they were not.
  const Process* sampled(uint32_t pid, uint64_t time_ns);

  size_t size() const { return count_; }
  size_t memory_bytes() const;
  const ProcessTableCounters& counters() const { return counters_; }

 private:
  struct Space;
  struct Tracked;
  struct Slot;

  void on(const MmapEvent& event);
  void on(const CommEvent& event);
  void on(const ForkEvent& event);
  void on(const ExitEvent& event);
  void on(const KsymbolEvent& /*event*/) {}
  void on(const BpfProgramEvent& /*event*/) {}
  void on(const LostEvent& event);

  Tracked* living(uint32_t pid);
  Tracked* at_time(uint32_t pid, uint64_t time_ns) const;
  Tracked* add(uint32_t pid, uint64_t known_ns);
  Tracked* discover(uint32_t pid);  // from /proc; null when it is not there
  Tracked* known_or_discovered(uint32_t pid, uint64_t time_ns);
  void read_stat(Tracked& process, const ProcStat& stat);
  void read_details(Tracked& process);
  void read_details_after_exec(Tracked& process);
  void retire(Tracked& process, uint64_t time_ns);
  void expire(uint64_t now_ns);

  // Reads the mappings from /proc unless that was done too recently. True when there are news.
  bool repair(Tracked& process);
  bool read_mappings(Tracked& process, uint64_t now_ns);
  CodeMapping resolve_file(const Tracked& process, const MappedFile& file, uint64_t file_offset);
  std::string_view intern(std::string_view name);
  MappingHistory& writable(Tracked& process);
  void note_change(Tracked& process);
  void verify_all();
  void verify_some(uint64_t now_ns);

  ModuleRegistry& registry_;
  ProcessTableOptions options_;
  std::unordered_map<uint32_t, std::unique_ptr<Slot>> slots_;
  size_t count_ = 0;
  uint64_t latest_ns_ = 0;  // of all events
  uint64_t last_version_ = 0;
  uint32_t loss_generation_ = 0;
  std::deque<std::pair<uint64_t, uint32_t>> ended_;  // exit time, process
  std::vector<uint32_t> changed_;
  std::vector<uint32_t> gone_;
  std::vector<uint32_t> to_read_;                   // mappings not read yet
  std::vector<uint32_t> to_verify_;                 // may have ended unnoticed
  std::unordered_map<uint32_t, uint64_t> missing_;  // not in /proc when last looked, and when
  std::set<std::string, std::less<>> names_;
  uint64_t next_verify_ns_ = 0;
  uint64_t detail_budget_ns_ = 0;  // see read_details_after_exec()
  DetailTrust detail_trust_;
  ProcessTableCounters counters_;
};

}  // namespace vesta::agent
