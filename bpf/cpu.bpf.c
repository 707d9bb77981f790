// CPU samples: runs at every tick of a clock on each CPU, and sends who was running and with which
// stack.
#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "send_sample.h"
#include "shared/clock.h"
#include "take_stack.h"
#include "tasks.h"

const volatile __u32 with_kernel = 1;

// By CPU: written by user space before its clock starts, and while it is stopped.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);  // set by user space before loading
  __type(key, __u32);
  __type(value, struct vesta_clock);
} clocks SEC(".maps");

// Nanoseconds of CPU time that the tick stands for. Every tick must pass here, wanted or not: it
// ends a stretch of time.
static __always_inline __u64 vesta_tick_weight(void) {
  const __u32 cpu = bpf_get_smp_processor_id();
  struct vesta_clock* clock = bpf_map_lookup_elem(&clocks, &cpu);
  if (!clock) return 0;
  const __u64 now = bpf_ktime_get_ns();
  __u64 weight = clock->period_ns;
  if (clock->carried_ns) {
    if (now < clock->carried_until_ns) weight += clock->carried_ns;
    clock->carried_ns = 0;
  }
  clock->last_tick_ns = now;
  return weight;
}

SEC("perf_event")
int take_cpu_sample(struct perf_event_context* context) {
  const __u64 weight = vesta_tick_weight();
  struct task_struct* task = bpf_get_current_task_btf();
  const __u32 tgid = vesta_process_of(task);
  if (session.namespace_level != 0 && tgid == 0) {
    vesta_count(VESTA_COUNT_OTHER_NAMESPACE);
    return 0;
  }
  if (!vesta_is_wanted(task, tgid)) {
    vesta_count(VESTA_COUNT_IGNORED);
    return 0;
  }
  vesta_count(VESTA_COUNT_SAMPLES);
  struct vesta_scratch* record = vesta_begin_sample(VESTA_SCRATCH_PERF_EVENT, task, tgid);
  if (!record) return 0;
  record->sample.values[0] = 1;
  record->sample.values[1] = weight;
  if (with_kernel && !vesta_is_user_code(context->regs.cs))
    vesta_take_kernel_stack(context, record);
  vesta_take_user_stack(&context->regs, record, VESTA_SCRATCH_PERF_EVENT, task);
  vesta_send(record, VESTA_SCRATCH_PERF_EVENT);
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
