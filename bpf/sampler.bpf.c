// CPU samples: runs at every tick of a clock on each CPU, and sends who was running and with which
// stack.
#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel_types.h"
#include "sample_ring.h"
#include "tasks.h"
#include "unwind_maps.h"

// Nanoseconds of CPU time that one sample stands for.
const volatile __u64 sample_weight = 0;
const volatile __u32 with_kernel = 1;

static __always_inline void take_registers(struct vesta_unwind_state* state,
                                           const struct user_registers* regs) {
  state->ip = regs->ip;
  state->sp = regs->sp;
  state->bp = regs->bp;
  state->is_return = 0;
  state->bp_lost = 0;
  state->has_registers = 1;
  state->registers[0] = regs->ax;
  state->registers[1] = regs->dx;
  state->registers[2] = regs->cx;
  state->registers[3] = regs->bx;
  state->registers[4] = regs->si;
  state->registers[5] = regs->di;
  state->registers[VESTA_REGISTER_RBP] = regs->bp;
  state->registers[VESTA_REGISTER_RSP] = regs->sp;
  state->registers[8] = regs->r8;
  state->registers[9] = regs->r9;
  state->registers[10] = regs->r10;
  state->registers[11] = regs->r11;
  state->registers[12] = regs->r12;
  state->registers[13] = regs->r13;
  state->registers[14] = regs->r14;
  state->registers[15] = regs->r15;
}

enum {
  // Code segment of 64-bit user code; its low two bits are the privilege level.
  USER_CODE_64 = 0x33,
  PRIVILEGE_MASK = 3,
};

static __always_inline int is_user_code(__u64 code_segment) {
  return (code_segment & PRIVILEGE_MASK) == PRIVILEGE_MASK;
}

static __always_inline void take_kernel_stack(struct perf_event_context* context,
                                              struct vesta_scratch* record) {
  const long bytes = bpf_get_stack(context, record->payload, VESTA_MAX_KERNEL_FRAMES * 8, 0);
  if (bytes < 0) {
    vesta_count(VESTA_COUNT_KERNEL_STACK_FAILED);
    return;
  }
  record->sample.kernel_frames = (__u16)(bytes / 8);
}

// In the middle of exec the old program is gone and the new one has not begun: the registers are
// those of the system call, but there is no stack behind them any more.
static __always_inline int lost_its_stack(const struct vesta_unwind_state* state,
                                          struct task_struct* task) {
  __u64 word;
  return BPF_CORE_READ_BITFIELD_PROBED(task, in_execve) &&
         bpf_probe_read_user(&word, sizeof(word), (const void*)state->sp);
}

static __always_inline void take_user_stack(struct perf_event_context* context,
                                            struct vesta_scratch* record,
                                            struct task_struct* task) {
  struct vesta_unwind_state* state = &record->state;
  state->frames = 0;
  state->result = VESTA_UNWIND_NO_USER;
  if ((BPF_CORE_READ(task, flags) & VESTA_PF_KTHREAD) || !BPF_CORE_READ(task, mm)) return;
  __u64 code_segment = context->regs.cs;
  if (is_user_code(code_segment)) {
    take_registers(state, &context->regs);
  } else {
    // In the kernel: where the thread left user space is at the base of its kernel stack.
    struct user_registers saved;
    const void* regs = (const void*)bpf_task_pt_regs(bpf_get_current_task_btf());
    if (bpf_probe_read_kernel(&saved, sizeof(saved), regs)) {
      state->result = VESTA_UNWIND_BAD_MEMORY;
      return;
    }
    take_registers(state, &saved);
    code_segment = saved.cs;
  }
  if (code_segment != USER_CODE_64) {
    state->result = is_user_code(code_segment) ? VESTA_UNWIND_UNSUPPORTED : VESTA_UNWIND_NO_USER;
    return;
  }
  vesta_walk_user_stack(record, VESTA_SCRATCH_PERF_EVENT);
  if (state->result != VESTA_UNWIND_COMPLETE && lost_its_stack(state, task)) {
    state->result = VESTA_UNWIND_NO_USER;
    state->frames = 0;
  }
}

SEC("perf_event")
int take_cpu_sample(struct perf_event_context* context) {
  struct task_struct* task = bpf_get_current_task_btf();
  const __u32 tgid = vesta_process_of(task);
  if (namespace_level != 0 && tgid == 0) {
    vesta_count(VESTA_COUNT_OTHER_NAMESPACE);
    return 0;
  }
  if (!vesta_is_target(tgid)) {
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
  struct vesta_sample* sample = &record->sample;
  __builtin_memset(sample, 0, sizeof(*sample));
  sample->time_ns = bpf_ktime_get_ns();
  sample->cgroup_id = bpf_get_current_cgroup_id();
  sample->weight = sample_weight;
  sample->pid = tgid;
  sample->tid = vesta_thread_of(task);
  sample->cpu = bpf_get_smp_processor_id();
  sample->kind = VESTA_SAMPLE_CPU;
  bpf_get_current_comm(sample->comm, sizeof(sample->comm));
  record->state.tgid = tgid;
  if (with_kernel && !is_user_code(context->regs.cs)) take_kernel_stack(context, record);
  take_user_stack(context, record, task);
  vesta_send(record, slot);
  return 0;
}

// A child of a target is a target.
SEC("tp_btf/sched_process_fork")
int BPF_PROG(follow_fork, struct task_struct* parent, struct task_struct* child) {
  if (!only_targets) return 0;
  const __u32 parent_tgid = vesta_process_of(parent);
  const __u32 child_tgid = vesta_process_of(child);
  if (child_tgid == 0 || child_tgid == parent_tgid || !vesta_is_target(parent_tgid)) return 0;
  const __u8 one = 1;
  bpf_map_update_elem(&targets, &child_tgid, &one, BPF_ANY);
  return 0;
}

SEC("syscall")
int find_namespace(void* unused) {
  (void)unused;
  struct pid* pid = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid);
  if (!pid) return 1;
  const __u32 level = BPF_CORE_READ(pid, level);
  struct upid number;
  const __u64 offset =
      bpf_core_field_offset(struct pid, numbers) + level * bpf_core_type_size(struct upid);
  if (bpf_probe_read_kernel(&number, sizeof(number), (const char*)pid + offset)) return 1;
  namespace_level = level;
  namespace_address = (__u64)number.ns;
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
