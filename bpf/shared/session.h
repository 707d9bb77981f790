// What a session of the agent tells every program that it loads, as constants: the verifier removes
// what they switch off. Also the bounds of the maps that all programs share.
#pragma once

#include "shared/sample.h"
#include "shared/types.h"

enum {
  VESTA_MAX_PROBES = 16,
};

// The section `.rodata.session` of each object; src/agent/kernel/kernel_session.cc fills it in.
struct vesta_session {
  __u64 ring_high_water;  // unread bytes: above, stacks are not copied, and the reader is woken
  __u64 namespace_address;
  __u32 namespace_level;      // the agent's pid namespace; 0 = the first one of the host
  __u32 only_targets;         // 1: only what `targets`, `target_threads` and `target_cgroups` name
  __u32 target_cgroup_count;  // how many of `target_cgroups` are set
  __u32 probe;                // the number of the probe that the object belongs to
};
VESTA_STATIC_ASSERT(sizeof(struct vesta_session) == 32, "no hidden padding");

// What `find_namespace` answers.
struct vesta_namespace {
  __u64 address;
  __u32 level;
  __u32 padding;
};
