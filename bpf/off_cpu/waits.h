// What is known of each thread's wait, and what can be told about a thread that waits.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "shared/off_cpu.h"
#include "tasks.h"
#include "wait_weight.h"

const volatile __u32 with_kernel_threads = 0;
const volatile __u64 min_wait_ns = 0;

// Bits of task_struct::__state (include/linux/sched.h).
enum {
  TASK_UNINTERRUPTIBLE = 0x2,
  TASK_STOPPED_OR_TRACED = 0x4 | 0x8,
  TASK_DEAD = 0x80,
  TASK_IDLE_BITS = 0x402,  // uninterruptible, but no load: kernel threads that have nothing to do
};

// Waits outside of system calls, by kinds of which different lengths are expected.
enum { VESTA_EARLY_PREEMPTED = 0, VESTA_EARLY_OTHER = 1, VESTA_EARLY_KINDS = 2 };

struct vesta_wait {
  // From when on time has to be accounted for; 0: it runs. Whoever takes it (the end of the wait, or
  // a cut) has all that went by since.
  __u64 since_ns;
  __u64 began_ns;
  __u64 wake_ns;  // 0: not yet
  __u64 expected_ns[VESTA_EARLY_KINDS];
  // What was blocked until the wake-up, and what it stands for: drawn there, told when the wait ends.
  __u64 blocked_ns;
  __u64 blocked_weight;
  __u64 link;  // of whoever woke it; 0: not known
  struct vesta_stretch stretch;
  __u32 take;  // index + 1 of a take that waits for the user stack, or for the end of the wait
  __u8 wait_class;
  __u8 is_counted;  // among the waits, at a cut
  __u8 is_early;    // outside of a system call
  __u8 is_for_futex;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct vesta_wait);
} waits SEC(".maps");

static __always_inline __u8 vesta_class_of(__u32 state) {
  if (state == 0) return VESTA_WAIT_RUN_QUEUE;
  if (state & TASK_STOPPED_OR_TRACED) return VESTA_WAIT_STOPPED;
  if (state & TASK_UNINTERRUPTIBLE) return VESTA_WAIT_UNINTERRUPTIBLE;
  return VESTA_WAIT_INTERRUPTIBLE;
}

static __always_inline __u64 vesta_syscall_of(struct task_struct* task) {
  const struct pt_regs* regs = (const struct pt_regs*)bpf_task_pt_regs(task);
  return regs->orig_ax;
}

static __always_inline int vesta_never_runs_user_code(const struct task_struct* task) {
  return (task->flags & VESTA_PF_NO_USER) || !task->mm;
}

// Of no interest, whoever is profiled.
static __always_inline int vesta_is_skipped(const struct task_struct* task) {
  return task->pid == 0 || (!with_kernel_threads && (task->flags & VESTA_PF_KTHREAD));
}

// REQUIRES: it does not run.
static __always_inline int vesta_waits_for_futex(struct task_struct* task) {
  return vesta_syscall_of(task) == VESTA_FUTEX_CALL && !vesta_never_runs_user_code(task);
}

static __always_inline __u64 vesta_detail_of(struct task_struct* task, __u32 wait_class) {
  const __u64 detail = vesta_wait_detail(vesta_syscall_of(task), wait_class,
                                         BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait));
  if (!vesta_waits_for_futex(task)) return detail;
  // What it asked for is still in its registers.
  const struct pt_regs* regs = (const struct pt_regs*)bpf_task_pt_regs(task);
  return detail | vesta_futex_detail(regs->si, (__u32)regs->dx, regs->r10 != 0);
}

// The word that a thread waits for in futex(2), else 0.
static __always_inline __u64 vesta_lock_address(struct task_struct* task) {
  if (!vesta_waits_for_futex(task)) return 0;
  const struct pt_regs* regs = (const struct pt_regs*)bpf_task_pt_regs(task);
  return regs->di;
}

static __always_inline __u64 vesta_ready_detail(__u64 detail) {
  return vesta_wait_detail(detail & VESTA_WAIT_NO_SYSCALL, VESTA_WAIT_RUN_QUEUE, 0);
}
