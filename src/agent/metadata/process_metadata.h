// Who a process is: everything that /proc, the process itself, Kubernetes and the configuration
// say, joined into resource attributes, and whether it is a target. Remembers processes, within
// limits. One owner thread calls of(); stats() may be asked from any. Refers to a Kubernetes that
// must outlive it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/config/agent_config.h"
#include "agent/metadata/attributes.h"
#include "agent/metadata/cgroup.h"
#include "agent/metadata/container_names.h"
#include "agent/metadata/kubernetes.h"
#include "agent/metadata/runtime.h"
#include "base/mutex.h"

namespace vesta::agent {

// As the recording knows a process (SampledProcess); all that is left of one that has ended.
struct ProcessIdentity {
  uint32_t pid = 0;
  uint32_t index = 0;         // another when the id is used again or another program runs
  std::string name;           // of its first thread
  std::string executable;     // path as the process sees it; empty for kernel threads
  std::string cgroup;         // text of /proc/PID/cgroup; may be empty
  bool has_own_root = false;  // it sees other files than we do
  bool is_kernel_thread = false;
  uint64_t start_ns = 0;  // when it was forked, CLOCK_MONOTONIC; 0 when not known
};

struct ProcessDescription {
  Attributes attributes;  // after relabelling; service.name, host.name and process.pid are there
                          // unless that took them away
  bool is_target = true;
  // The service is named after the program for want of anything better: no container, no unit, and
  // neither the process nor a rule gave a name.
  bool is_plain_program = false;
  // Its memory was not looked at yet: a runtime and a process context may be added soon.
  bool is_preliminary = false;
};

struct ProcessMetadataOptions {
  std::string proc_root = "/proc";
  std::string host_name;  // empty = ours
  std::vector<ServiceNameRule> service_names;
  TargetConfig targets;
  std::vector<std::string> environment;       // variables that may be exported
  std::map<std::string, std::string> labels;  // added to every process; win over all else
  ContainerNamesOptions containers;
  // Changes the attributes at last; false when the process is not to be profiled.
  std::function<bool(Attributes&)> relabel = {};
  size_t max_processes = 8192;  // remembered
  size_t max_bytes = size_t{16} << 20;
  std::function<uint64_t()> clock = {};  // CLOCK_MONOTONIC in ns; that when not set
};

struct ProcessMetadataStats {
  uint64_t processes = 0;  // remembered now
  uint64_t bytes = 0;
  uint64_t reads = 0;      // of a process from /proc
  uint64_t rereads = 0;    // of these, to see what has changed
  uint64_t postponed = 0;  // rereads that had to wait for their share of time
  uint64_t brief = 0;      // first readings without the memory map: see of()
  uint64_t gone = 0;       // had ended before they were read
  uint64_t evicted = 0;    // forgotten to stay within the limits
  uint64_t contexts = 0;   // OpenTelemetry process contexts read
  uint64_t bad_contexts = 0;
  uint64_t read_ns = 0;  // time spent reading
};

class ProcessMetadata {
 public:
  ProcessMetadata(Kubernetes& kubernetes, ProcessMetadataOptions options);
  ~ProcessMetadata();
  ProcessMetadata(const ProcessMetadata&) = delete;
  ProcessMetadata& operator=(const ProcessMetadata&) = delete;

  // Never null. Reads the process when it is new or has become another program, and now and then
  // to see what it says by now (after 5 s, then less and less often, 1 % of the time at most). The
  // memory map of a process is not read in its first second, in which most end: libraries are still
  // being loaded, and no process context is published yet.
  // Pods are those known last: what is new has its labels with a later call.
  std::shared_ptr<const ProcessDescription> of(const ProcessIdentity& identity);

  // While the agent uses too much CPU at any rate: reads processes again ten times as rarely, and
  // the memory maps of at most some new processes a second. The others have no runtime and no
  // process context until they are read again; everything else about them is the same. Any thread.
  void set_frugal(bool is_frugal) { is_frugal_ = is_frugal; }

  // New rules; everything is read again when it is next asked for.
  void configure(ProcessMetadataOptions options);

  ProcessMetadataStats stats() const;

 private:
  struct Facts;
  struct Entry;
  using Place = std::list<Entry>::iterator;

  Place find_or_add(const ProcessIdentity& identity, uint64_t now_ns);
  enum class Reading : uint8_t { kWhole, kBrief };
  bool read(const ProcessIdentity& identity, Facts& facts, Reading reading);
  Reading first_reading(const ProcessIdentity& identity, uint64_t now_ns);
  void read_memory(const ProcDir& process, uint32_t pid, Facts& facts);
  void reread_if_due(const ProcessIdentity& identity, Entry& entry, uint64_t now_ns);
  void describe(Entry& entry);
  void join_pod(Entry& entry, Attributes& attributes, std::string& service);
  std::string join_container(const CgroupIdentity& cgroup, Attributes& attributes);
  void keep_limits(uint64_t now_ns);
  void drop(Place place);

  Kubernetes& kubernetes_;
  ProcessMetadataOptions options_;
  RuntimeProbe runtimes_;
  ContainerNames containers_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<uint32_t, Place> by_pid_;
  size_t bytes_ = 0;
  uint64_t budget_ns_ = 0;  // for rereading
  uint64_t budget_time_ns_ = 0;
  uint64_t maps_second_ = 0;  // in which maps_read_ were read
  uint32_t maps_read_ = 0;
  std::atomic<bool> is_frugal_{false};

  mutable Mutex mutex_;
  ProcessMetadataStats stats_ GUARDED_BY(mutex_);
};

}  // namespace vesta::agent
