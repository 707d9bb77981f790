// Off-CPU time: how long threads wait, and where. A thread's wait begins when it leaves a CPU and
// ends when it has one again; what came after the wake-up is time in a run queue. Which waits are
// sent is decided when their length is known (wait_weight.h says how): the blocked part at the
// wake-up, where the stack of whoever woke the thread can be taken, the other when it runs. The user
// stack is taken when the thread leaves its system call, where it is the same as before.
#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel_types.h"
#include "off_cpu/cut.h"
#include "off_cpu/early.h"
#include "off_cpu/estimate.h"
#include "off_cpu/takes.h"
#include "off_cpu/waits.h"
#include "off_cpu/waker.h"
#include "shared/off_cpu.h"
#include "tasks.h"

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
  wait->blocked_ns = 0;
  wait->link = 0;
  wait->is_counted = 0;
  wait->is_early = 0;
  wait->is_for_futex = vesta_waits_for_futex(task);
  if (vesta_syscall_of(task) == ~0ULL && !vesta_never_runs_user_code(task) &&
      !(task->flags & VESTA_PF_EXITING)) {
    wait->is_early = 1;
    // One that waits already is of a system call that ended without telling (a signal frame's).
    if (!wait->take) vesta_take_early(context, task, wait);
  }
  // Last: from here on a cut may look at the wait.
  *(volatile __u64*)&wait->since_ns = now;
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
    take->object = vesta_lock_address(task);
    take->link = wait->link;
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
  vesta_send_both(take, task, wait, weights, counts);
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
  if (!(ns[0] | ns[1] | wait->blocked_ns)) return;
  if (now - wait->began_ns < min_wait_ns) {
    vesta_add_total(VESTA_WAIT_TOTAL_SHORT, ns[0] + ns[1], 1);
    if (wait->is_early) {
      __u32 place = 0;
      struct vesta_take* take = vesta_own_take(task, wait, &place);
      if (take) vesta_free_take(take);
    }
    return;
  }
  __u64 weights[VESTA_WAIT_PARTS];
  __u64 counts[VESTA_WAIT_PARTS];
  vesta_weigh(wait, ns, vesta_theta(), weights, counts);
  const int is_blocked = wait->wait_class != VESTA_WAIT_RUN_QUEUE;
  if (is_blocked) vesta_add_total(wait->wait_class, ns[0], 1);
  if (ns[1]) vesta_add_total(VESTA_WAIT_RUN_QUEUE, ns[1], is_blocked ? 0 : 1);
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
  if (!wait || !wait->since_ns || wait->wake_ns) return 0;
  const __u64 now = bpf_ktime_get_ns();
  wait->wake_ns = now;
  if (wait->wait_class == VESTA_WAIT_RUN_QUEUE) return 0;
  if (vesta_draw_blocked(wait, now)) vesta_tell_waker(ctx, wait);
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

char LICENSE[] SEC("license") = "GPL";
