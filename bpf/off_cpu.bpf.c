// Off-CPU time: how long threads wait, and where. A thread's wait begins when it leaves a CPU and
// ends when it has one again; what came after the wake-up is time in a run queue. Which waits are
// sent is decided when their length is known (wait_weight.h says how), and their user stack is
// taken when the thread leaves its system call, where it is the same as before.
//
// Waits outside of system calls (page faults, threads that were put off a CPU in user code) have no
// such moment. Their stack is taken before, where it will probably be wanted: which wait is taken
// next follows from its length alone, and what it may be from those that came before.
#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "describe_thread.h"
#include "kernel_types.h"
#include "send_sample.h"
#include "shared/off_cpu.h"
#include "take_stack.h"
#include "tasks.h"
#include "wait_weight.h"

const volatile __u32 with_kernel_threads = 0;
const volatile __u64 min_wait_ns = 0;

// Set by user space, before and while the programs run.
__u64 theta_ns = 10000000;
// Of an iteration: waits are cut there, those that began before `cut_older_ns`.
__u64 cut_ns = 0;
__u64 cut_older_ns = 0;

// Threads that have a take, by the low bits of their number: at nearly every end of a system call
// there is none, and this is the cheapest way to know.
enum { VESTA_PENDING = 4096 };
__u32 pending[VESTA_PENDING] = {};

// Bits of task_struct::__state (include/linux/sched.h).
enum {
  TASK_UNINTERRUPTIBLE = 0x2,
  TASK_STOPPED_OR_TRACED = 0x4 | 0x8,
  TASK_DEAD = 0x80,
  TASK_IDLE_BITS = 0x402,  // uninterruptible, but no load: kernel threads that have nothing to do
};

// Waits outside of system calls, by kinds of which different lengths are expected.
enum { VESTA_EARLY_PREEMPTED = 0, VESTA_EARLY_OTHER = 1, VESTA_EARLY_KINDS = 2 };

enum {
  VESTA_EXPECT_OF_THREAD = 3,  // the last wait is an eighth of what is expected of the next …
  VESTA_EXPECT_OF_CPU = 6,     // … and less for a thread of which nothing is known
};

struct vesta_wait {
  // From when on time has to be accounted for; 0: it runs. Whoever takes it (the end of the wait, or
  // a cut) has all that went by since.
  __u64 since_ns;
  __u64 began_ns;
  __u64 wake_ns;  // 0: not yet
  __u64 expected_ns[VESTA_EARLY_KINDS];
  struct vesta_stretch stretch;
  __u32 take;  // index + 1 of a take that waits for the user stack, or for the end of the wait
  __u8 wait_class;
  __u8 is_counted;  // among the waits, at a cut
  __u8 is_early;    // outside of a system call
  __u8 padding;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct vesta_wait);
} waits SEC(".maps");

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
  __u64 detail;  // of the blocked part
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

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, VESTA_WAIT_TOTALS);
  __type(key, __u32);
  __type(value, struct vesta_wait_total);
} wait_totals SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, VESTA_EARLY_KINDS);
  __type(key, __u32);
  __type(value, __u64);
} expected_of_cpu SEC(".maps");

// Where the last thread that ended left off, for the next one that begins: threads that come and go
// are laid end to end, too.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct vesta_stretch);
} left_stretch SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct vesta_open_wait);
} open_wait SEC(".maps");

static __u64 vesta_random(void) {
  return ((__u64)bpf_get_prandom_u32() << 32) | bpf_get_prandom_u32();
}

static __always_inline __u64 vesta_theta(void) {
  const __u64 theta = *(volatile __u64*)&theta_ns;
  return theta ? theta : 1;
}

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

// The longer part carries the count: its weight varies less.
static __always_inline int vesta_counted_part(const __u64* ns) {
  return ns[VESTA_WAIT_READY] > ns[VESTA_WAIT_BLOCKED] ? VESTA_WAIT_READY : VESTA_WAIT_BLOCKED;
}

static __always_inline void vesta_weigh(struct vesta_wait* wait, const __u64* ns, __u64 theta,
                                        __u64* weights, __u64* counts) {
  weights[0] = ns[0] ? vesta_wait_weight(&wait->stretch, ns[0], theta) : 0;
  weights[1] = ns[1] ? vesta_wait_weight(&wait->stretch, ns[1], theta) : 0;
  counts[0] = counts[1] = 0;
  if (wait->is_counted) return;
  if (vesta_counted_part(ns) == VESTA_WAIT_READY) {
    if (weights[1]) counts[1] = vesta_wait_count(ns[1], weights[1]);
  } else if (weights[0]) {
    counts[0] = vesta_wait_count(ns[0], weights[0]);
  }
}

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
    return take;
  }
  return 0;
}

static __always_inline __u64 vesta_detail_of(struct task_struct* task, __u32 wait_class) {
  return vesta_wait_detail(vesta_syscall_of(task), wait_class,
                           BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait));
}

static __always_inline __u64 vesta_ready_detail(__u64 detail) {
  return vesta_wait_detail(detail & VESTA_WAIT_NO_SYSCALL, VESTA_WAIT_RUN_QUEUE, 0);
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
  vesta_send_part(record, take->ns[VESTA_WAIT_BLOCKED], take->count[VESTA_WAIT_BLOCKED],
                  take->detail);
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

static __always_inline void vesta_leave(void* context, int preempt, struct task_struct* task,
                                        __u64 now) {
  if (vesta_is_skipped(task)) return;
  if (session.only_targets || session.namespace_level != 0) {
    const __u32 tgid = vesta_process_of(task);
    if (tgid == 0 || !vesta_is_wanted(task, tgid)) return;
  }
  const __u32 state = preempt ? 0 : task->__state;
  if (state & TASK_DEAD) return;
  if ((state & TASK_IDLE_BITS) == TASK_IDLE_BITS && (task->flags & VESTA_PF_KTHREAD)) return;
  struct vesta_wait* wait = bpf_task_storage_get(&waits, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!wait) {
    vesta_count(VESTA_COUNT_NO_STORAGE);
    return;
  }
  wait->wake_ns = 0;
  wait->began_ns = now;
  wait->wait_class = vesta_class_of(state);
  wait->is_counted = 0;
  wait->is_early = 0;
  if (vesta_syscall_of(task) == ~0ULL && !vesta_never_runs_user_code(task) &&
      !(task->flags & VESTA_PF_EXITING)) {
    wait->is_early = 1;
    // One that waits already is of a system call that ended without telling (a signal frame's).
    if (!wait->take) vesta_take_early(context, task, wait);
  }
  // Last: from here on a cut may look at the wait.
  *(volatile __u64*)&wait->since_ns = now;
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
  const __u64 detail = vesta_detail_of(task, wait->wait_class);
  vesta_send_stored(take, weights[0], counts[0], detail);
  vesta_send_stored(take, weights[1], counts[1], vesta_ready_detail(detail));
  vesta_free_take(take);
}

// A wait in a system call is over, and is to be sent. A thread may wait several times in one call:
// their weights add up, and each has a chance in proportion to its weight to be the one whose
// kernel stack is shown.
static __always_inline void vesta_hold_take(struct task_struct* task, struct vesta_wait* wait,
                                            const __u64* weights, const __u64* counts) {
  __u32 place = 0;
  struct vesta_take* take = vesta_own_take(task, wait, &place);
  int is_shown = 1;
  if (take) {
    const int part = weights[0] | take->ns[0] ? VESTA_WAIT_BLOCKED : VESTA_WAIT_READY;
    const __u64 before = take->ns[part];
    const __u64 own = weights[part];
    is_shown = vesta_random() % (before + own ? before + own : 1) < own;
  } else {
    take = vesta_claim_take((__u32)task->pid, &place);
    if (!take) {
      vesta_lose(weights[0], weights[1]);
      return;
    }
  }
  for (int part = 0; part < VESTA_WAIT_PARTS; ++part) {
    take->ns[part] += weights[part];
    take->count[part] += counts[part];
  }
  if (is_shown) {
    take->detail = vesta_detail_of(task, wait->wait_class);
    const long bytes = bpf_get_task_stack(task, take->frames, VESTA_MAX_KERNEL_FRAMES * 8, 0);
    take->sample.kernel_frames = bytes > 0 ? (__u16)((__u64)bytes / 8) : 0;
    if (bytes <= 0) vesta_count(VESTA_COUNT_KERNEL_STACK_FAILED);
  }
  vesta_give_take(task, wait, place);
}

// Of a thread that will not come back to user code.
static __always_inline void vesta_send_kernel_stack(struct task_struct* task,
                                                    struct vesta_wait* wait, const __u64* weights,
                                                    const __u64* counts) {
  __u32 place = 0;
  struct vesta_take* take = vesta_claim_take((__u32)task->pid, &place);
  if (!take) {
    vesta_lose(weights[0], weights[1]);
    return;
  }
  vesta_begin_foreign(take, task);
  const __u64 detail = vesta_detail_of(task, wait->wait_class);
  vesta_send_stored(take, weights[0], counts[0], detail);
  vesta_send_stored(take, weights[1], counts[1], vesta_ready_detail(detail));
  vesta_free_take(take);
}

static __always_inline void vesta_enter(struct task_struct* task, __u64 now) {
  if (vesta_is_skipped(task)) return;
  struct vesta_wait* wait = bpf_task_storage_get(&waits, task, 0, 0);
  if (!wait || !wait->since_ns) return;
  const __u64 since = __sync_lock_test_and_set(&wait->since_ns, 0);
  if (!since) return;
  __u64 ns[VESTA_WAIT_PARTS];
  vesta_split(wait, since, now, ns);
  // A cut may have been a little ahead.
  if (!(ns[0] | ns[1])) return;
  if (now - wait->began_ns < min_wait_ns) {
    vesta_add_total(VESTA_WAIT_TOTAL_SHORT, ns[0] + ns[1], 1);
    if (wait->is_early) {
      __u32 place = 0;
      struct vesta_take* take = vesta_own_take(task, wait, &place);
      if (take) vesta_free_take(take);
    }
    return;
  }
  const int is_blocked = wait->wait_class != VESTA_WAIT_RUN_QUEUE;
  if (is_blocked) vesta_add_total(wait->wait_class, ns[0], 1);
  if (ns[1]) vesta_add_total(VESTA_WAIT_RUN_QUEUE, ns[1], is_blocked ? 0 : 1);
  __u64 weights[VESTA_WAIT_PARTS];
  __u64 counts[VESTA_WAIT_PARTS];
  vesta_weigh(wait, ns, vesta_theta(), weights, counts);
  if (wait->is_early) {
    vesta_learn(wait, ns[0] + ns[1]);
    vesta_end_early(task, wait, weights, counts);
    return;
  }
  if (!(weights[0] | weights[1])) return;
  if (vesta_never_runs_user_code(task) || (task->flags & VESTA_PF_EXITING)) {
    vesta_send_kernel_stack(task, wait, weights, counts);
  } else {
    vesta_hold_take(task, wait, weights, counts);
  }
}

SEC("tp_btf/sched_switch")
int BPF_PROG(note_switch, int preempt, struct task_struct* prev, struct task_struct* next) {
  const __u64 now = bpf_ktime_get_ns();
  vesta_leave(ctx, preempt, prev, now);
  vesta_enter(next, now);
  return 0;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(note_wake_up, struct task_struct* task) {
  if (vesta_is_skipped(task)) return 0;
  struct vesta_wait* wait = bpf_task_storage_get(&waits, task, 0, 0);
  if (wait && wait->since_ns && !wait->wake_ns) wait->wake_ns = bpf_ktime_get_ns();
  return 0;
}

// A thread that was just made waits for a CPU.
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(note_new_thread, struct task_struct* task) {
  if (vesta_is_skipped(task)) return 0;
  if (session.only_targets || session.namespace_level != 0) {
    const __u32 tgid = vesta_process_of(task);
    if (tgid == 0 || !vesta_is_wanted(task, tgid)) return 0;
  }
  struct vesta_wait* wait = bpf_task_storage_get(&waits, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!wait) {
    vesta_count(VESTA_COUNT_NO_STORAGE);
    return 0;
  }
  const __u32 zero = 0;
  struct vesta_stretch* left = bpf_map_lookup_elem(&left_stretch, &zero);
  if (left) {
    wait->stretch = *left;
    left->theta_ns = 0;
  }
  const __u64 now = bpf_ktime_get_ns();
  wait->wait_class = VESTA_WAIT_RUN_QUEUE;
  wait->began_ns = now;
  *(volatile __u64*)&wait->since_ns = now;
  return 0;
}

static __always_inline int vesta_finish_current(void) {
  if (!*vesta_pending_of((__u32)bpf_get_current_pid_tgid())) return 0;
  struct task_struct* task = bpf_get_current_task_btf();
  struct vesta_wait* wait = bpf_task_storage_get(&waits, task, 0, 0);
  if (!wait) return 0;
  __u32 place = 0;
  struct vesta_take* take = vesta_own_take(task, wait, &place);
  if (!take) return 0;
  vesta_finish_take(take);
  vesta_free_take(take);
  return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(finish_in_call) {
  return vesta_finish_current();
}

// Some do not come back from their system call.
SEC("tp_btf/sched_process_exit")
int BPF_PROG(finish_at_exit) {
  struct vesta_wait* wait = bpf_task_storage_get(&waits, bpf_get_current_task_btf(), 0, 0);
  const __u32 zero = 0;
  struct vesta_stretch* left = bpf_map_lookup_elem(&left_stretch, &zero);
  if (wait && left) {
    *left = wait->stretch;
    wait->stretch.theta_ns = 0;
  }
  return vesta_finish_current();
}

// Runs for each task when user space reads the iterator's file: cuts the waits that go on. What came
// before `cut_ns` is written and not counted again when the wait ends. Threads that nobody has seen
// begin here.
SEC("iter/task")
int cut_waits(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task || vesta_is_skipped(task)) return 0;
  const __u32 tgid = vesta_process_of(task);
  if (tgid == 0 || (session.only_targets && !vesta_is_wanted_thread(task, tgid))) return 0;
  const __u32 state = task->__state;
  if (task->on_cpu || (state & TASK_DEAD) ||
      ((state & TASK_IDLE_BITS) == TASK_IDLE_BITS && (task->flags & VESTA_PF_KTHREAD)))
    return 0;
  struct vesta_wait* wait = bpf_task_storage_get(&waits, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!wait) {
    vesta_count(VESTA_COUNT_NO_STORAGE);
    return 0;
  }
  const __u64 cut = cut_ns;
  if (!wait->began_ns) {
    wait->wait_class = vesta_class_of(state);
    wait->began_ns = cut;
    if (vesta_syscall_of(task) == ~0ULL && !vesta_never_runs_user_code(task)) wait->is_early = 1;
    *(volatile __u64*)&wait->since_ns = cut;
    return 0;
  }
  const __u64 since = wait->since_ns;
  if (!since || since >= cut || since > cut_older_ns || cut - wait->began_ns < min_wait_ns)
    return 0;
  const __u32 zero = 0;
  struct vesta_open_wait* open = bpf_map_lookup_elem(&open_wait, &zero);
  if (!open) return 0;
  __u64 ns[VESTA_WAIT_PARTS];
  vesta_split(wait, since, cut, ns);
  // Before anything is said: when the wait has just ended, its end accounts for all.
  if (__sync_val_compare_and_swap(&wait->since_ns, since, cut) != since) return 0;
  if (ns[0]) vesta_add_total(wait->wait_class, ns[0], 0);
  if (ns[1]) vesta_add_total(VESTA_WAIT_RUN_QUEUE, ns[1], 0);
  // A wait is counted where it is certain to be taken, else when it ends.
  const __u64 theta = vesta_theta();
  const int is_certain = ns[vesta_counted_part(ns)] >= theta;
  vesta_weigh(wait, ns, theta, open->ns, open->count);
  if (is_certain) {
    wait->is_counted = 1;
  } else {
    open->count[0] = open->count[1] = 0;
  }
  // It stays in its system call: what it waited for before has the same user stack.
  __u32 place = 0;
  struct vesta_take* take = wait->is_early ? 0 : vesta_own_take(task, wait, &place);
  if (take) {
    open->ns[0] += take->ns[0];
    open->ns[1] += take->ns[1];
    open->count[0] += take->count[0];
    open->count[1] += take->count[1];
    vesta_free_take(take);
  }
  if (!(open->ns[0] | open->ns[1])) return 0;
  open->detail[0] = vesta_detail_of(task, wait->wait_class);
  open->detail[1] = vesta_ready_detail(open->detail[0]);
  vesta_describe_thread(&open->thread, task, tgid);
  bpf_seq_write(context->meta->seq, open, sizeof(*open));
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
