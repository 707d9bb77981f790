// What all programs of one profiler share in the kernel: the maps, the ring of records, who is
// looked at, the pid namespace, counters. A probe opens its own object, has the session share with
// it, and loads it. All that was attached is gone when this is destroyed, and when the process
// dies. One owner thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <shared/session.h>
#include "agent/kernel/sample_ring.h"
#include "base/result.h"

struct session_bpf;
struct bpf_link;
struct bpf_object;

namespace vesta::agent {

struct KernelSessionOptions {
  bool only_targets = false;       // else every process on the host
  std::vector<int> cgroups;        // folders of version 2: all in and below them are targets, too
  uint32_t ring_bytes = 4U << 20;  // a power of two
  uint32_t max_processes = 4096;   // with mappings in the kernel; others are finished in user space
  uint32_t max_leaves = 16384;     // of VESTA_MAPPINGS_PER_LEAF mappings
  uint32_t max_modules = 8192;
};

// Of the maps that the unwinder reads.
struct KernelMapFds {
  int processes = -1;
  int mapping_leaves = -1;
  int modules = -1;
  int tables = -1;
};

// What programs took of the CPUs. Stays 0 unless somebody counts (see bpf_stats.h).
struct KernelRunTime {
  uint64_t ns = 0;
  uint64_t runs = 0;
};

// By enum vesta_counter, summed over CPUs.
using KernelCounters = std::array<uint64_t, VESTA_COUNTERS>;

class KernelSession {
 public:
  // kPermission with what is missing, kUnsupported when the kernel cannot do it.
  static Result<std::unique_ptr<KernelSession>> load(const KernelSessionOptions& options);
  ~KernelSession();
  KernelSession(const KernelSession&) = delete;
  KernelSession& operator=(const KernelSession&) = delete;

  // Gives an object the session's maps in place of its own ones of the same names, and its
  // constants. `probe` is the number that its records and counters carry. REQUIRES: open, not
  // loaded yet, and built from the headers of bpf/.
  Status share_with(bpf_object* object, uint32_t probe) const;

  const KernelMapFds& maps() const { return map_fds_; }
  bool has_only_targets() const { return constants_.only_targets != 0; }

  // The whole process and, from follow() on, what it forks.
  Status add_target(uint32_t pid);
  // Nothing of the process until it runs a program (exec), from follow() on; then as add_target().
  Status add_held_target(uint32_t pid);
  // That thread alone, unless its whole process is a target.
  Status add_target_thread(uint32_t pid, uint32_t tid);
  void remove_target(uint32_t pid);
  // Whole processes that are targets now or held, those that were forked included.
  std::vector<uint32_t> target_processes() const;
  // Children of targets are targets from here on, and those that are held once they run a program.
  // Nothing happens when every process is one.
  Status follow();

  // Becomes readable when the ring fills up faster than it is drained.
  int ring_fd() const { return ring_->fd(); }
  // All records there are. Damaged ones are counted, not shown.
  Status drain(const std::function<void(const SampleRecord&)>& use) { return ring_->drain(use); }
  uint64_t damaged_records() const { return ring_->damaged_records(); }

  KernelCounters counters(uint32_t probe) const;
  // Of the session's own programs.
  KernelRunTime run_time() const;

 private:
  struct Skeleton {
    void operator()(session_bpf* skeleton) const;
  };
  struct Link {
    void operator()(bpf_link* link) const;
  };

  KernelSession() = default;
  Status add_process(uint32_t pid, uint8_t kind);
  Status find_namespace();

  std::unique_ptr<session_bpf, Skeleton> skeleton_;
  std::unique_ptr<SampleRing> ring_;
  std::unique_ptr<bpf_link, Link> fork_link_;
  std::unique_ptr<bpf_link, Link> exec_link_;
  KernelMapFds map_fds_;
  vesta_session constants_{};  // but for the probe
};

// Of all programs of an object.
KernelRunTime run_time_of(const bpf_object* object);

// Why the kernel did not take a program: the right that is missing, or what the verifier said.
Error load_error(std::string_view what, int error_number, const std::string& log);

}  // namespace vesta::agent
