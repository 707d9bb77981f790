// The few kernel structs that the programs read, with only the members they use: libbpf finds the
// true offsets at load time (CO-RE), so no dumped vmlinux.h is needed.
#pragma once

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
  struct thread_struct thread;
};

#pragma clang attribute pop

// User registers as the kernel saves them on entry, and as a perf_event program gets them. This
// layout is part of the system call ABI (asm/ptrace.h), so it needs no relocation.
struct user_registers {
  __u64 r15;
  __u64 r14;
  __u64 r13;
  __u64 r12;
  __u64 bp;
  __u64 bx;
  __u64 r11;
  __u64 r10;
  __u64 r9;
  __u64 r8;
  __u64 ax;
  __u64 cx;
  __u64 dx;
  __u64 si;
  __u64 di;
  __u64 orig_ax;
  __u64 ip;
  __u64 cs;
  __u64 flags;
  __u64 sp;
  __u64 ss;
};

// Context of a perf_event program (struct bpf_perf_event_data).
struct perf_event_context {
  struct user_registers regs;
  __u64 sample_period;
  __u64 address;
};
