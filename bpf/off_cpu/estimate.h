// How long the parts of a wait were and what they stand for: wait_weight.h with the kernel's clocks,
// and the exact sums beside it.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "off_cpu/waits.h"
#include "shared/off_cpu.h"
#include "wait_weight.h"

// Set by user space, before and while the programs run.
__u64 theta_ns = 10000000;

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, VESTA_WAIT_TOTALS);
  __type(key, __u32);
  __type(value, struct vesta_wait_total);
} wait_totals SEC(".maps");

// Where the last thread that ended left off, for the next one that begins: threads that come and go
// are laid end to end, too.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct vesta_stretch);
} left_stretch SEC(".maps");

static __u64 vesta_random(void) {
  return ((__u64)bpf_get_prandom_u32() << 32) | bpf_get_prandom_u32();
}

static __always_inline __u64 vesta_theta(void) {
  const __u64 theta = *(volatile __u64*)&theta_ns;
  return theta ? theta : 1;
}

static __always_inline void vesta_add_total(__u32 total, __u64 ns, __u64 count) {
  struct vesta_wait_total* sum = bpf_map_lookup_elem(&wait_totals, &total);
  if (!sum) return;
  sum->ns += ns;
  sum->waits += count;
}

// The parts of the time from `since` to `now`.
static __always_inline void vesta_split(const struct vesta_wait* wait, __u64 since, __u64 now,
                                        __u64* ns) {
  const __u64 all = now > since ? now - since : 0;
  const __u64 wake = wait->wake_ns;
  __u64 ready = 0;
  if (wait->wait_class == VESTA_WAIT_RUN_QUEUE) {
    ready = all;
  } else if (wake && wake < now) {
    ready = wake > since ? now - wake : all;
  }
  ns[VESTA_WAIT_BLOCKED] = all - ready;
  ns[VESTA_WAIT_READY] = ready;
}

// The longer part carries the count: its weight varies less. But contentions of locks are counted
// where the time is that the lock was held.
static __always_inline int vesta_counted_part(const struct vesta_wait* wait, const __u64* ns) {
  if (wait->is_for_futex && ns[VESTA_WAIT_BLOCKED]) return VESTA_WAIT_BLOCKED;
  return ns[VESTA_WAIT_READY] > ns[VESTA_WAIT_BLOCKED] ? VESTA_WAIT_READY : VESTA_WAIT_BLOCKED;
}

// The thread is being woken: draws the blocked part. What it stands for, 0: it is not taken, or its
// end will tell.
static __always_inline __u64 vesta_draw_blocked(struct vesta_wait* wait, __u64 now) {
  const __u64 since = wait->since_ns;
  if (now <= since || now - wait->began_ns < min_wait_ns) return 0;
  // When a cut has it, what is left is told at the end.
  if (__sync_val_compare_and_swap(&wait->since_ns, since, now) != since) return 0;
  wait->blocked_weight = vesta_wait_weight(&wait->stretch, now - since, vesta_theta());
  *(volatile __u64*)&wait->blocked_ns = now - since;
  return wait->blocked_weight;
}

// Draws both parts, adds to them what was drawn at the wake-up, and counts the wait.
static __always_inline void vesta_weigh(struct vesta_wait* wait, __u64* ns, __u64 theta,
                                        __u64* weights, __u64* counts) {
  weights[0] = ns[0] ? vesta_wait_weight(&wait->stretch, ns[0], theta) : 0;
  if (wait->blocked_ns) {
    const __u64 drawn_ns = __sync_lock_test_and_set(&wait->blocked_ns, 0);
    ns[0] += drawn_ns;
    if (drawn_ns) weights[0] += wait->blocked_weight;
  }
  weights[1] = ns[1] ? vesta_wait_weight(&wait->stretch, ns[1], theta) : 0;
  counts[0] = counts[1] = 0;
  if (wait->is_counted) return;
  if (vesta_counted_part(wait, ns) == VESTA_WAIT_READY) {
    if (weights[1]) counts[1] = vesta_wait_count(ns[1], weights[1]);
  } else if (weights[0]) {
    counts[0] = vesta_wait_count(ns[0], weights[0]);
  }
}
