// CPU samples: runs at every tick of a clock on each CPU, and sends who was running and with which
// stack.
#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel_types.h"
#include "sample_ring.h"
#include "shared/clock.h"
#include "take_stack.h"
#include "tasks.h"
#include "unwind_maps.h"

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
  if (namespace_level != 0 && tgid == 0) {
    vesta_count(VESTA_COUNT_OTHER_NAMESPACE);
    return 0;
  }
  if (!vesta_is_wanted(task, tgid)) {
    vesta_count(VESTA_COUNT_IGNORED);
    return 0;
  }
  vesta_count(VESTA_COUNT_SAMPLES);
  __u32 slot = VESTA_SCRATCH_PERF_EVENT;
  struct vesta_scratch* record = bpf_map_lookup_elem(&scratch, &slot);
  if (!record) {
    vesta_count(VESTA_COUNT_NO_SCRATCH);
    return 0;
  }
  vesta_begin_sample(record, task, tgid);
  record->sample.weight = weight;
  if (with_kernel && !vesta_is_user_code(context->regs.cs))
    vesta_take_kernel_stack(context, record);
  vesta_take_user_stack(context, record, task);
  vesta_send(record, slot);
  return 0;
}

// A child of a target is a target.
SEC("tp_btf/sched_process_fork")
int BPF_PROG(follow_fork, struct task_struct* parent, struct task_struct* child) {
  if (!only_targets) return 0;
  const __u32 parent_tgid = vesta_process_of(parent);
  const __u32 child_tgid = vesta_process_of(child);
  if (child_tgid == 0 || child_tgid == parent_tgid ||
      vesta_target_kind(parent_tgid) != VESTA_TARGET_PROCESS)
    return 0;
  const __u8 kind = VESTA_TARGET_PROCESS;
  bpf_map_update_elem(&targets, &child_tgid, &kind, BPF_ANY);
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
