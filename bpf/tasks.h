// Who is running: ids as the agent's own pid namespace shows them, and whether anyone asked about
// the process.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "shared/targets.h"

enum { VESTA_PF_KTHREAD = 0x00200000 };

// 1: only what `targets`, `target_threads` and `target_cgroups` name. 0: every process.
const volatile __u32 only_targets = 0;
const volatile __u32 target_cgroup_count = 0;

// The agent's pid namespace, found by the agent running `find_namespace` once.
__u32 namespace_level = 0;
__u64 namespace_address = 0;

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 65536);
  __type(key, __u32);   // tgid in the agent's namespace
  __type(value, __u8);  // enum vesta_target_kind
} targets SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, 65536);
  __type(key, __u32);  // thread in the agent's namespace
  __type(value, __u8);
} target_threads SEC(".maps");

// Of version 2; the first `target_cgroup_count` are set.
struct {
  __uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
  __uint(max_entries, VESTA_MAX_TARGET_CGROUPS);
  __type(key, __u32);
  __type(value, __u32);
} target_cgroups SEC(".maps");

// The number of a task at one level of nested namespaces; not 0 when it cannot be read.
static __always_inline int vesta_read_number(struct pid* pid, __u32 level, struct upid* number) {
  const __u64 offset =
      bpf_core_field_offset(struct pid, numbers) + level * bpf_core_type_size(struct upid);
  return bpf_probe_read_kernel(number, sizeof(*number), (const char*)pid + offset) != 0;
}

// The number of a task in the agent's namespace, 0 when it has none there.
static __always_inline __u32 vesta_task_number(struct task_struct* task) {
  struct pid* pid = BPF_CORE_READ(task, thread_pid);
  if (!pid) return 0;
  const __u32 level = namespace_level;
  if (BPF_CORE_READ(pid, level) < level) return 0;
  struct upid number;
  if (vesta_read_number(pid, level, &number)) return 0;
  return (__u64)number.ns == namespace_address ? (__u32)number.nr : 0;
}

static __always_inline __u32 vesta_thread_of(struct task_struct* task) {
  if (namespace_level == 0) return (__u32)BPF_CORE_READ(task, pid);
  return vesta_task_number(task);
}

static __always_inline __u32 vesta_process_of(struct task_struct* task) {
  if (namespace_level == 0) return (__u32)BPF_CORE_READ(task, tgid);
  return vesta_task_number(BPF_CORE_READ(task, group_leader));
}

// The current thread is in one of the cgroups, or below it.
static __always_inline int vesta_in_target_cgroup(void) {
  for (__u32 i = 0; i < VESTA_MAX_TARGET_CGROUPS; ++i) {
    if (i >= target_cgroup_count) return 0;
    if (bpf_current_task_under_cgroup(&target_cgroups, i) == 1) return 1;
  }
  return 0;
}

static __always_inline __u8 vesta_target_kind(__u32 tgid) {
  const __u8* kind = bpf_map_lookup_elem(&targets, &tgid);
  return kind ? *kind : 0;
}

// REQUIRES: `task` is the current one, `tgid` its process.
static __always_inline int vesta_is_wanted(struct task_struct* task, __u32 tgid) {
  if (!only_targets) return 1;
  const __u8 kind = vesta_target_kind(tgid);
  if (kind == VESTA_TARGET_PROCESS) return 1;
  if (kind == VESTA_TARGET_THREADS) {
    const __u32 tid = vesta_thread_of(task);
    if (bpf_map_lookup_elem(&target_threads, &tid)) return 1;
  }
  return vesta_in_target_cgroup();
}

SEC("syscall")
int find_namespace(void* unused) {
  (void)unused;
  struct pid* pid = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid);
  if (!pid) return 1;
  const __u32 level = BPF_CORE_READ(pid, level);
  struct upid number;
  if (vesta_read_number(pid, level, &number)) return 1;
  namespace_level = level;
  namespace_address = (__u64)number.ns;
  return 0;
}
