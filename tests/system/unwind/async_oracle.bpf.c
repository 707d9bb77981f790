// Takes a stack as the sampler does, at any instruction, and stops the thread right there, so that
// another unwinder can look at what this one saw. One sample for each time that user space asks.
#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "send_sample.h"
#include "take_stack.h"
#include "tasks.h"

enum { STOP_SIGNAL = 19 };

// How many ticks of a target until the one that is wanted; 0 when none is.
__u32 armed = 0;
// Spent on stacks so far.
__u64 stack_ns = 0;

SEC("perf_event")
int stop_at_sample(struct perf_event_context* context) {
  struct task_struct* task = bpf_get_current_task_btf();
  const __u32 tgid = vesta_process_of(task);
  if (tgid == 0 || !vesta_is_wanted(task, tgid)) return 0;
  if (armed == 0 || __sync_fetch_and_sub(&armed, 1) != 1) return 0;
  // Takes effect when the thread is about to run in user space again.
  if (bpf_send_signal_thread(STOP_SIGNAL)) {
    armed = 1;
    return 0;
  }
  struct vesta_scratch* record = vesta_begin_sample(VESTA_SCRATCH_PERF_EVENT, task, tgid);
  if (!record) return 0;
  const __u64 before = bpf_ktime_get_ns();
  if (!vesta_is_user_code(context->regs.cs)) vesta_take_kernel_stack(context, record);
  vesta_take_user_stack(&context->regs, record, VESTA_SCRATCH_PERF_EVENT, task);
  stack_ns += bpf_ktime_get_ns() - before;
  // Of the innermost frame: to see that the thread did stop where it was.
  record->sample.cgroup_id = record->state.registers[VESTA_REGISTER_RSP];
  vesta_send(record, VESTA_SCRATCH_PERF_EVENT);
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
