// Takes: halves of samples, from the moment when a wait is chosen until all of it is known and can be
// sent.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "off_cpu/waits.h"
#include "send_sample.h"
#include "shared/off_cpu.h"
#include "take_stack.h"
#include "tasks.h"

// Threads that have a take, by the low bits of their number: at nearly every end of a system call
// there is none, and this is the cheapest way to know.
enum { VESTA_PENDING = 4096 };
__u32 pending[VESTA_PENDING] = {};

enum {
  VESTA_TAKES = 256,     // a power of two
  VESTA_TAKE_TRIES = 8,  // places where one may be
};

// Half a sample: the kernel stack and the weights until the user stack is there, or, for a wait
// outside of a system call, the stack until the weights are.
struct vesta_take {
  __u64 owner;  // 0: free
  __u64 ns[VESTA_WAIT_PARTS];
  __u64 count[VESTA_WAIT_PARTS];
  // Of the blocked part.
  __u64 detail;
  __u64 object;
  __u64 link;
  // As they are sent.
  struct vesta_sample sample;
  __u64 frames[VESTA_MAX_FRAMES];
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, VESTA_TAKES);
  __type(key, __u32);
  __type(value, struct vesta_take);
} takes SEC(".maps");

// Nothing could be sent for these.
static __always_inline void vesta_lose(__u64 blocked, __u64 ready) {
  if (blocked) vesta_count(VESTA_COUNT_SAMPLES);
  if (ready) vesta_count(VESTA_COUNT_SAMPLES);
  if (blocked) vesta_count(VESTA_COUNT_NO_SCRATCH);
  if (ready) vesta_count(VESTA_COUNT_NO_SCRATCH);
  vesta_count_more(VESTA_COUNT_NO_SCRATCH_VALUE, blocked + ready);
}

static __always_inline struct vesta_take* vesta_take_at(__u32 index_and_one) {
  const __u32 index = index_and_one - 1;
  return bpf_map_lookup_elem(&takes, &index);
}

static __always_inline __u32* vesta_pending_of(__u32 pid) {
  return &pending[pid & (VESTA_PENDING - 1)];
}

// The take that the thread has, which is the caller's from here on; null when it has none.
static __always_inline struct vesta_take* vesta_own_take(struct task_struct* task,
                                                         struct vesta_wait* wait, __u32* place) {
  *place = 0;
  if (!wait->take) return 0;
  *place = __sync_lock_test_and_set(&wait->take, 0);
  if (!*place) return 0;
  __sync_fetch_and_add(vesta_pending_of((__u32)task->pid), -1);
  return vesta_take_at(*place);
}

// REQUIRES: the thread has none.
static __always_inline void vesta_give_take(struct task_struct* task, struct vesta_wait* wait,
                                            __u32 place) {
  __sync_fetch_and_add(vesta_pending_of((__u32)task->pid), 1);
  wait->take = place;
}

static __always_inline void vesta_free_take(struct vesta_take* take) {
  take->owner = 0;
}

static __always_inline struct vesta_take* vesta_claim_take(__u32 owner, __u32* place) {
  for (__u32 i = 0; i < VESTA_TAKE_TRIES; ++i) {
    const __u32 index = (owner + i * 37) & (VESTA_TAKES - 1);
    struct vesta_take* take = bpf_map_lookup_elem(&takes, &index);
    if (!take || take->owner) continue;
    if (__sync_val_compare_and_swap(&take->owner, 0, (__u64)owner) != 0) continue;
    *place = index + 1;
    take->ns[0] = take->ns[1] = take->count[0] = take->count[1] = 0;
    take->object = take->link = 0;
    return take;
  }
  return 0;
}

// What is in the slot, as a sample of one part. The slot stays the caller's.
static __noinline int vesta_send_part(struct vesta_scratch* record, __u64 ns, __u64 count,
                                      __u64 detail) {
  if (!record || !ns) return 0;
  vesta_count(VESTA_COUNT_SAMPLES);
  record->sample.values[0] = count;
  record->sample.values[1] = ns;
  record->sample.detail = detail;
  vesta_send(record, VESTA_SCRATCH_TRACEPOINT);
  record->is_busy = 1;
  return 0;
}

// The current thread leaves the kernel, or ends: the user stack is what it was while it waited.
static __noinline int vesta_finish_take(struct vesta_take* take) {
  if (!take) return 0;
  struct task_struct* task = bpf_get_current_task_btf();
  const __u32 tgid = vesta_process_of(task);
  struct vesta_scratch* record = vesta_begin_sample(VESTA_SCRATCH_TRACEPOINT, task, tgid);
  if (!record) {
    // Counted once already.
    if (take->ns[0] && take->ns[1]) vesta_count(VESTA_COUNT_NO_SCRATCH);
    vesta_count_more(VESTA_COUNT_SAMPLES, (take->ns[0] != 0) + (take->ns[1] != 0));
    vesta_count_more(VESTA_COUNT_NO_SCRATCH_VALUE, take->ns[0] + take->ns[1]);
    return 0;
  }
  __u32 frames = take->sample.kernel_frames;
  if (frames > VESTA_MAX_KERNEL_FRAMES) frames = VESTA_MAX_KERNEL_FRAMES;
  bpf_probe_read_kernel(record->payload, frames * 8, take->frames);
  record->sample.kernel_frames = (__u16)frames;
  vesta_take_user_stack(0, record, VESTA_SCRATCH_TRACEPOINT, task);
  record->sample.object = take->object;
  record->sample.link = take->link;
  vesta_send_part(record, take->ns[VESTA_WAIT_BLOCKED], take->count[VESTA_WAIT_BLOCKED],
                  take->detail);
  record->sample.object = record->sample.link = 0;
  vesta_send_part(record, take->ns[VESTA_WAIT_READY], take->count[VESTA_WAIT_READY],
                  vesta_ready_detail(take->detail));
  record->is_busy = 0;
  return 0;
}

// A record of a thread that is not the current one, in the memory of a take.
static __always_inline void vesta_begin_foreign(struct vesta_take* take, struct task_struct* task) {
  struct vesta_sample* sample = &take->sample;
  __builtin_memset(sample, 0, sizeof(*sample));
  sample->time_ns = bpf_ktime_get_ns();
  sample->pid = vesta_process_of(task);
  sample->tid = vesta_thread_of(task);
  sample->cpu = bpf_get_smp_processor_id();
  sample->probe = (__u8)session.probe;
  sample->result = VESTA_UNWIND_NO_USER;
  bpf_probe_read_kernel_str(sample->comm, sizeof(sample->comm), task->comm);
  const long bytes = bpf_get_task_stack(task, take->frames, VESTA_MAX_KERNEL_FRAMES * 8, 0);
  if (bytes > 0) {
    sample->kernel_frames = (__u16)((__u64)bytes / 8);
  } else {
    vesta_count(VESTA_COUNT_KERNEL_STACK_FAILED);
  }
}

// The user code that was left, without its callers: where their stack could not be read.
static __always_inline void vesta_add_user_leaf(struct vesta_take* take, struct task_struct* task) {
  const struct pt_regs* regs = (const struct pt_regs*)bpf_task_pt_regs(task);
  const __u32 at = take->sample.kernel_frames;
  if (at >= VESTA_MAX_KERNEL_FRAMES) return;
  take->frames[at] = regs->ip | VESTA_FRAME_EXACT;
  take->sample.user_frames = 1;
  take->sample.result = VESTA_UNWIND_BAD_MEMORY;
}

static __noinline int vesta_send_stored(struct vesta_take* take, __u64 ns, __u64 count,
                                        __u64 detail) {
  if (!take || !ns) return 0;
  struct vesta_sample* sample = &take->sample;
  vesta_count(VESTA_COUNT_SAMPLES);
  sample->values[0] = count;
  sample->values[1] = ns;
  sample->detail = detail;
  sample->time_ns = bpf_ktime_get_ns();
  __u64 size = sizeof(*sample) + ((__u32)sample->kernel_frames + sample->user_frames) * 8;
  if (size > sizeof(*sample) + sizeof(take->frames)) size = sizeof(*sample) + sizeof(take->frames);
  if (bpf_ringbuf_output(&samples, sample, size, BPF_RB_NO_WAKEUP)) {
    vesta_count(VESTA_COUNT_RING_FULL);
    vesta_count_more(VESTA_COUNT_RING_FULL_VALUE, ns);
  } else {
    vesta_count(VESTA_COUNT_SENT);
  }
  return 0;
}

// A wait with its whole stack in the take is over.
static __always_inline void vesta_send_both(struct vesta_take* take, struct task_struct* task,
                                            const struct vesta_wait* wait, const __u64* weights,
                                            const __u64* counts) {
  const __u64 detail = vesta_detail_of(task, wait->wait_class);
  take->sample.object = vesta_lock_address(task);
  take->sample.link = wait->link;
  vesta_send_stored(take, weights[0], counts[0], detail);
  take->sample.object = take->sample.link = 0;
  vesta_send_stored(take, weights[1], counts[1], vesta_ready_detail(detail));
}
