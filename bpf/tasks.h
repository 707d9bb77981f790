// Who is running: ids as the agent's own pid namespace shows them, and whether anyone asked about
// the process.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "maps/targets.h"
#include "session.h"

// Bits of task_struct::flags (include/linux/sched.h).
enum {
  VESTA_PF_EXITING = 0x00000004,
  VESTA_PF_IO_WORKER = 0x00000010,
  VESTA_PF_USER_WORKER = 0x00004000,
  VESTA_PF_KTHREAD = 0x00200000,
  // Threads that never run user code, though some of them have a program's memory.
  VESTA_PF_NO_USER = VESTA_PF_KTHREAD | VESTA_PF_USER_WORKER | VESTA_PF_IO_WORKER,
};

// The number of a task at one level of nested namespaces; not 0 when it cannot be read.
static __always_inline int vesta_read_number(struct pid* pid, __u32 level, struct upid* number) {
  const __u64 offset =
      bpf_core_field_offset(struct pid, numbers) + level * bpf_core_type_size(struct upid);
  return bpf_probe_read_kernel(number, sizeof(*number), (const char*)pid + offset) != 0;
}

// The number of a task in a namespace, 0 when it has none there.
static __always_inline __u32 vesta_task_number(struct task_struct* task, __u32 level,
                                               __u64 address) {
  struct pid* pid = BPF_CORE_READ(task, thread_pid);
  if (!pid) return 0;
  if (BPF_CORE_READ(pid, level) < level) return 0;
  struct upid number;
  if (vesta_read_number(pid, level, &number)) return 0;
  return (__u64)number.ns == address ? (__u32)number.nr : 0;
}

static __always_inline __u32 vesta_process_in(struct task_struct* task, __u32 level,
                                              __u64 address) {
  if (level == 0) return (__u32)BPF_CORE_READ(task, tgid);
  return vesta_task_number(BPF_CORE_READ(task, group_leader), level, address);
}

static __always_inline __u32 vesta_thread_of(struct task_struct* task) {
  if (session.namespace_level == 0) return (__u32)BPF_CORE_READ(task, pid);
  return vesta_task_number(task, session.namespace_level, session.namespace_address);
}

static __always_inline __u32 vesta_process_of(struct task_struct* task) {
  return vesta_process_in(task, session.namespace_level, session.namespace_address);
}

// The current thread is in one of the cgroups, or below it.
static __always_inline int vesta_in_target_cgroup(void) {
  for (__u32 i = 0; i < VESTA_MAX_TARGET_CGROUPS; ++i) {
    if (i >= session.target_cgroup_count) return 0;
    if (bpf_current_task_under_cgroup(&target_cgroups, i) == 1) return 1;
  }
  return 0;
}

static __always_inline __u8 vesta_target_kind(__u32 tgid) {
  const __u8* kind = bpf_map_lookup_elem(&targets, &tgid);
  return kind ? *kind : 0;
}

// A target by its number; its cgroup is not asked.
static __always_inline int vesta_is_wanted_thread(struct task_struct* task, __u32 tgid) {
  const __u8 kind = vesta_target_kind(tgid);
  if (kind != VESTA_TARGET_THREADS) return kind == VESTA_TARGET_PROCESS;
  const __u32 tid = vesta_thread_of(task);
  return bpf_map_lookup_elem(&target_threads, &tid) != 0;
}

// REQUIRES: `task` is the current one, `tgid` its process.
static __always_inline int vesta_is_wanted(struct task_struct* task, __u32 tgid) {
  return !session.only_targets || vesta_is_wanted_thread(task, tgid) || vesta_in_target_cgroup();
}
