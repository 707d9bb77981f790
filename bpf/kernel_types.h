// The few kernel structs that the programs read, with only the members they use: libbpf finds the
// true offsets at load time (CO-RE), so no dumped vmlinux.h is needed.
#pragma once

#include "shared/registers.h"
#include "shared/types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pid_namespace;

struct upid {
  int nr;
  struct pid_namespace* ns;
};

struct pid {
  unsigned int level;
  struct upid numbers[1];
};

struct mm_struct {
  unsigned long start_stack;
};

struct thread_struct {
  unsigned long fsbase;
};

struct task_struct {
  unsigned int flags;
  int pid;
  int tgid;
  struct mm_struct* mm;
  struct task_struct* group_leader;
  struct pid* thread_pid;
  unsigned in_execve : 1;
  unsigned in_iowait : 1;
  unsigned int __state;
  int on_cpu;
  unsigned long nvcsw;
  unsigned long nivcsw;
  char comm[16];
  struct thread_struct thread;
};

struct pt_regs {
  unsigned long r10;
  unsigned long dx;
  unsigned long si;
  unsigned long di;
  unsigned long orig_ax;
  unsigned long ip;
};

#pragma clang attribute pop

// Context of a perf_event program (struct bpf_perf_event_data).
struct perf_event_context {
  struct user_registers regs;
  __u64 sample_period;
  __u64 address;
};

enum {
  // Code segment of 64-bit user code; its low two bits are the privilege level.
  VESTA_USER_CODE_64 = 0x33,
  VESTA_PRIVILEGE_MASK = 3,
};

static __always_inline int vesta_is_user_code(__u64 code_segment) {
  return (code_segment & VESTA_PRIVILEGE_MASK) == VESTA_PRIVILEGE_MASK;
}
