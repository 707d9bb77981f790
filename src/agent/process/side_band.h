// The kernel's running account of all processes: exec, mmap, fork, exit, as events in the order of
// time. Owns one perf event with a ring per CPU, and an epoll descriptor over them. Not
// thread-safe: one owner thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "agent/kernel/online_cpus.h"
#include "agent/process/perf_ring.h"
#include "agent/process/side_band_event.h"
#include "base/result.h"

namespace vesta::agent {

struct SideBandOptions {
  size_t ring_bytes = 256 * 1024;  // per CPU; less when locked memory is short
  // How much is in a ring before the owner is woken: about one exec.
  uint32_t wakeup_bytes = 512;
  std::string online_cpus = kOnlineCpus;
};

struct SideBandCounters {
  uint64_t events = 0;
  uint64_t lost = 0;     // records the kernel had no room for
  uint64_t damaged = 0;  // records that made no sense
};

class SideBand {
 public:
  // kPermission without the right to watch all processes.
  static Result<std::unique_ptr<SideBand>> open(const SideBandOptions& options = {});
  ~SideBand();

  // Readable when there is something to drain.
  int fd() const { return epoll_.get(); }
  bool has_build_ids() const { return has_build_ids_; }
  size_t cpu_count() const { return rings_.size(); }

  // To be called when CPUs went on- or offline.
  Status update_cpus();

  // Hands out what happened, oldest first over all CPUs. What is younger than the start of this
  // call waits for the next one, because an older record of another CPU may still be on its way; so
  // drain from time to time even when fd() is not readable.
  void drain(const std::function<void(const SideBandEvent&)>& callback);

  const SideBandCounters& counters() const { return counters_; }

 private:
  explicit SideBand(SideBandOptions options) : options_(std::move(options)) {}
  Status open_cpu(int cpu);

  struct Pending {
    uint64_t time_ns;
    size_t offset;  // of the record in buffer_
  };

  SideBandOptions options_;
  UniqueFd epoll_;
  std::map<int, PerfRing> rings_;  // by CPU
  bool has_build_ids_ = true;
  bool has_kernel_code_ = true;  // ksymbol and bpf_event
  std::string buffer_;           // raw records: first those kept from the last drain
  std::vector<Pending> pending_;
  SideBandCounters counters_;
};

}  // namespace vesta::agent
