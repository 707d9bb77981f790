// Maps that name who is looked at when not every process is. Declared here alone; every object
// shares those of the session (see README.md).
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_helpers.h>

#include "shared/targets.h"

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

// Of version 2; the first `session.target_cgroup_count` are set.
struct {
  __uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
  __uint(max_entries, VESTA_MAX_TARGET_CGROUPS);
  __type(key, __u32);
  __type(value, __u32);
} target_cgroups SEC(".maps");
