// Maps through which records leave the kernel: scratch memory, the ring, and counters. Declared
// here alone; every probe shares those of the session (see README.md).
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_helpers.h>

#include "session.h"
#include "shared/sample.h"
#include "shared/unwind_state.h"

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);  // set by the session before loading
} samples SEC(".maps");

// A record under construction, from vesta_begin_sample() to vesta_send().
struct vesta_scratch {
  __u64 is_busy;
  struct vesta_unwind_state state;
  struct vesta_sample sample;
  __u64 payload[VESTA_MAX_FRAMES + VESTA_LEAF_REGISTERS + VESTA_STACK_COPY_BYTES / 8];
};

// One slot for each kind of program, because an interrupt may hit the middle of a program and run
// one of another kind on the same CPU. Whatever finds its slot busy is counted and left out.
enum vesta_scratch_slot {
  VESTA_SCRATCH_PERF_EVENT = 0,
  VESTA_SCRATCH_TRACEPOINT = 1,
  VESTA_SCRATCH_UPROBE = 2,
  VESTA_SCRATCH_WAKER = 3,  // a tracepoint that interrupts hit while another has its slot
  VESTA_SCRATCH_SLOTS = 4,
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, VESTA_SCRATCH_SLOTS);
  __type(key, __u32);
  __type(value, struct vesta_scratch);
} scratch SEC(".maps");

enum { VESTA_USER_PAGE = 4096 };

// What of a deep stack does not fit beside the frames.
struct vesta_more_stack {
  struct vesta_sample sample;
  char bytes[VESTA_STACK_COPY_BYTES + VESTA_USER_PAGE];  // room for the verifier behind a last part
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, VESTA_SCRATCH_SLOTS);
  __type(key, __u32);
  __type(value, struct vesta_more_stack);
} more_stack SEC(".maps");

// By probe, then by enum vesta_counter.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, VESTA_MAX_PROBES* VESTA_COUNTERS);
  __type(key, __u32);
  __type(value, __u64);
} counters SEC(".maps");

static __always_inline void vesta_count_more(__u32 counter, __u64 amount) {
  const __u32 key = session.probe * VESTA_COUNTERS + counter;
  __u64* value = bpf_map_lookup_elem(&counters, &key);
  if (value) *value += amount;
}

static __always_inline void vesta_count(__u32 counter) {
  vesta_count_more(counter, 1);
}
