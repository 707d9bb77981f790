// Waits outside of system calls: page faults, threads that were put off a CPU in user code. They have
// no moment after them at which their stack could be read. It is taken before, where it will probably
// be wanted: which wait is taken next follows from its length alone, and what it may be from those
// that came before.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "off_cpu/estimate.h"
#include "off_cpu/takes.h"
#include "off_cpu/waits.h"
#include "take_stack.h"
#include "wait_weight.h"

enum {
  VESTA_EXPECT_OF_THREAD = 3,  // the last wait is an eighth of what is expected of the next …
  VESTA_EXPECT_OF_CPU = 6,     // … and less for a thread of which nothing is known
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, VESTA_EARLY_KINDS);
  __type(key, __u32);
  __type(value, __u64);
} expected_of_cpu SEC(".maps");

// The thread that leaves its CPU now is outside of a system call: its stack, in case the wait is one
// of those that are sent.
static __always_inline void vesta_take_early(void* context, struct task_struct* task,
                                             struct vesta_wait* wait) {
  const __u32 kind =
      wait->wait_class == VESTA_WAIT_RUN_QUEUE ? VESTA_EARLY_PREEMPTED : VESTA_EARLY_OTHER;
  __u64 expected = wait->expected_ns[kind];
  if (!expected) {
    const __u64* of_cpu = bpf_map_lookup_elem(&expected_of_cpu, &kind);
    if (of_cpu) expected = *of_cpu;
  }
  if (!vesta_may_be_taken(&wait->stretch, expected, vesta_theta())) return;
  __u32 place = 0;
  struct vesta_take* take = vesta_claim_take((__u32)task->pid, &place);
  struct vesta_scratch* record =
      take ? vesta_begin_sample(VESTA_SCRATCH_TRACEPOINT, task, vesta_process_of(task)) : 0;
  if (!record) {
    if (take) vesta_free_take(take);
    return;  // sent without callers, if at all
  }
  vesta_take_kernel_stack(context, record);
  vesta_take_user_stack(0, record, VESTA_SCRATCH_TRACEPOINT, task);
  record->sample.result = record->state.result;
  record->sample.user_frames = (__u16)record->state.frames;
  take->sample = record->sample;
  __u32 bytes = ((__u32)record->sample.kernel_frames + record->state.frames) * 8;
  if (bytes > sizeof(take->frames)) bytes = sizeof(take->frames);
  bpf_probe_read_kernel(take->frames, bytes, record->payload);
  record->is_busy = 0;
  vesta_give_take(task, wait, place);
}

// A wait outside of a system call is over. What such a wait may take is known better now.
static __always_inline void vesta_learn(struct vesta_wait* wait, __u64 ns) {
  const __u32 kind =
      wait->wait_class == VESTA_WAIT_RUN_QUEUE ? VESTA_EARLY_PREEMPTED : VESTA_EARLY_OTHER;
  wait->expected_ns[kind] = vesta_expect(wait->expected_ns[kind], ns, VESTA_EXPECT_OF_THREAD);
  __u64* of_cpu = bpf_map_lookup_elem(&expected_of_cpu, &kind);
  if (of_cpu) *of_cpu = vesta_expect(*of_cpu, ns, VESTA_EXPECT_OF_CPU);
}

// Sends it with the stack that was taken before, if there is one, else without callers.
static __always_inline void vesta_end_early(struct task_struct* task, struct vesta_wait* wait,
                                            const __u64* weights, const __u64* counts) {
  __u32 place = 0;
  struct vesta_take* take = vesta_own_take(task, wait, &place);
  if (!(weights[0] | weights[1])) {
    if (take) vesta_free_take(take);
    return;
  }
  if (!take) {
    take = vesta_claim_take((__u32)task->pid, &place);
    if (!take) {
      vesta_lose(weights[0], weights[1]);
      return;
    }
    vesta_begin_foreign(take, task);
    vesta_add_user_leaf(take, task);
  }
  vesta_send_both(take, task, wait, weights, counts);
  vesta_free_take(take);
}
