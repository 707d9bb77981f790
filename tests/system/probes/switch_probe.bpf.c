// A probe for tests: a sample whenever a thread of a target leaves a CPU. Nothing of it is known to
// the product: what it needs it has from the headers of bpf/ and the session.
#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel_types.h"
#include "send_sample.h"
#include "take_stack.h"
#include "tasks.h"

SEC("tp_btf/sched_switch")
int take_switch_sample(__u64* context) {
  struct task_struct* task = bpf_get_current_task_btf();
  const __u32 tgid = vesta_process_of(task);
  if (tgid == 0 || !vesta_is_wanted(task, tgid)) return 0;
  vesta_count(VESTA_COUNT_SAMPLES);
  struct vesta_scratch* record = vesta_begin_sample(VESTA_SCRATCH_TRACEPOINT, task, tgid);
  if (!record) return 0;
  record->sample.values[0] = 7;
  vesta_take_kernel_stack(context, record);
  vesta_take_user_stack(0, record, VESTA_SCRATCH_TRACEPOINT, task);
  vesta_send(record, VESTA_SCRATCH_TRACEPOINT);
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
