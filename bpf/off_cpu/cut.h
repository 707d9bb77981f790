// Cuts of waits that go on, by an iterator over tasks.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "describe_thread.h"
#include "kernel_types.h"
#include "off_cpu/estimate.h"
#include "off_cpu/takes.h"
#include "off_cpu/waits.h"

// Of an iteration, set by user space: waits are cut there, those that began before `cut_older_ns`.
__u64 cut_ns = 0;
__u64 cut_older_ns = 0;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct vesta_open_wait);
} open_wait SEC(".maps");

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
    wait->is_for_futex = vesta_waits_for_futex(task);
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
  const __u64 theta = vesta_theta();
  vesta_weigh(wait, ns, theta, open->ns, open->count);
  if (ns[0]) vesta_add_total(wait->wait_class, ns[0], 0);
  if (ns[1]) vesta_add_total(VESTA_WAIT_RUN_QUEUE, ns[1], 0);
  // A wait is counted where it is certain to be taken, else when it ends.
  const int is_certain = ns[vesta_counted_part(wait, ns)] >= theta;
  if (is_certain) {
    wait->is_counted = 1;
  } else {
    open->count[0] = open->count[1] = 0;
  }
  open->link = open->ns[0] ? wait->link : 0;
  open->object = vesta_lock_address(task);
  // It stays in its system call: what it waited for before has the same user stack.
  __u32 place = 0;
  struct vesta_take* take = wait->is_early ? 0 : vesta_own_take(task, wait, &place);
  if (take) {
    open->ns[0] += take->ns[0];
    open->ns[1] += take->ns[1];
    open->count[0] += take->count[0];
    open->count[1] += take->count[1];
    if (!open->link) open->link = take->link;
    vesta_free_take(take);
  }
  if (!(open->ns[0] | open->ns[1])) return 0;
  open->detail[0] = vesta_detail_of(task, wait->wait_class);
  open->detail[1] = vesta_ready_detail(open->detail[0]);
  vesta_describe_thread(&open->thread, task, tgid);
  bpf_seq_write(context->meta->seq, open, sizeof(*open));
  return 0;
}
