// Reads the threads of some processes as the kernel has them now: state, registers, kernel stack.
// Through a BPF iterator, which looks at threads without touching them. One owner thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <shared/thread.h>
#include "agent/kernel/kernel_session.h"
#include "base/result.h"

struct threads_bpf;
struct bpf_link;

namespace vesta::agent {

class ThreadReader {
 public:
  // kPermission with what is missing.
  static Result<ThreadReader> load(std::span<const uint32_t> pids);
  ThreadReader(ThreadReader&&) noexcept;
  ThreadReader& operator=(ThreadReader&&) noexcept;
  ~ThreadReader();

  // All threads there are now; bounded.
  Result<std::vector<vesta_thread>> read() const;

 private:
  struct Skeleton {
    void operator()(threads_bpf* skeleton) const;
  };
  struct Link {
    void operator()(bpf_link* link) const;
  };
  ThreadReader() = default;

  std::unique_ptr<KernelSession> session_;
  std::unique_ptr<threads_bpf, Skeleton> skeleton_;
  std::unique_ptr<bpf_link, Link> link_;
};

// Has not run between two readings, so that its stack is still the one of the first.
bool has_not_run(const vesta_thread& before, const vesta_thread& after);

// "running", "sleeping", "waiting for a device" … as ps has the letters R, S, D.
std::string thread_state_name(const vesta_thread& thread);

}  // namespace vesta::agent
