// A record's head, and the stacks of the current thread. For programs of any kind: perf events,
// tracepoints, uprobes.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "maps/samples.h"
#include "tasks.h"
#include "walk.h"

// A record in the slot of the program's kind, which is the caller's until vesta_send(). Null when
// the slot is taken, which is counted. REQUIRES: `task` is the current one, `tgid` its process.
static __always_inline struct vesta_scratch* vesta_begin_sample(__u32 slot,
                                                                struct task_struct* task,
                                                                __u32 tgid) {
  struct vesta_scratch* record = bpf_map_lookup_elem(&scratch, &slot);
  if (!record || record->is_busy) {
    vesta_count(VESTA_COUNT_NO_SCRATCH);
    return 0;
  }
  record->is_busy = 1;
  struct vesta_sample* sample = &record->sample;
  __builtin_memset(sample, 0, sizeof(*sample));
  sample->time_ns = bpf_ktime_get_ns();
  sample->cgroup_id = bpf_get_current_cgroup_id();
  sample->pid = tgid;
  sample->tid = vesta_thread_of(task);
  sample->cpu = bpf_get_smp_processor_id();
  sample->probe = (__u8)session.probe;
  bpf_get_current_comm(sample->comm, sizeof(sample->comm));
  record->state.tgid = tgid;
  return record;
}

static __always_inline void vesta_take_registers(struct vesta_unwind_state* state,
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

// `context` is the program's own.
static __always_inline void vesta_take_kernel_stack(void* context, struct vesta_scratch* record) {
  const long bytes = bpf_get_stack(context, record->payload, VESTA_MAX_KERNEL_FRAMES * 8, 0);
  if (bytes < 0) {
    vesta_count(VESTA_COUNT_KERNEL_STACK_FAILED);
    return;
  }
  record->sample.kernel_frames = (__u16)(bytes / 8);
}

// In the middle of exec the old program is gone and the new one has not begun: the registers are
// those of the system call, but there is no stack behind them any more.
static __always_inline int vesta_lost_its_stack(const struct vesta_unwind_state* state,
                                                struct task_struct* task) {
  __u64 word;
  return BPF_CORE_READ_BITFIELD_PROBED(task, in_execve) &&
         bpf_probe_read_user(&word, sizeof(word), (const void*)state->sp);
}

// `regs` are those that the program's context brings, of the kernel or of user code; null when it
// brings none (tracepoints).
static __always_inline void vesta_take_user_stack(const struct user_registers* regs,
                                                  struct vesta_scratch* record, __u32 slot,
                                                  struct task_struct* task) {
  struct vesta_unwind_state* state = &record->state;
  state->frames = 0;
  state->result = VESTA_UNWIND_NO_USER;
  if ((BPF_CORE_READ(task, flags) & VESTA_PF_KTHREAD) || !BPF_CORE_READ(task, mm)) return;
  __u64 code_segment = regs ? regs->cs : 0;
  if (vesta_is_user_code(code_segment)) {
    vesta_take_registers(state, regs);
  } else {
    // In the kernel: where the thread left user space is at the base of its kernel stack.
    struct user_registers saved;
    const void* base = (const void*)bpf_task_pt_regs(bpf_get_current_task_btf());
    if (bpf_probe_read_kernel(&saved, sizeof(saved), base)) {
      state->result = VESTA_UNWIND_BAD_MEMORY;
      return;
    }
    vesta_take_registers(state, &saved);
    code_segment = saved.cs;
  }
  if (code_segment != VESTA_USER_CODE_64) {
    state->result =
        vesta_is_user_code(code_segment) ? VESTA_UNWIND_UNSUPPORTED : VESTA_UNWIND_NO_USER;
    return;
  }
  vesta_walk_user_stack(record, slot);
  if (state->result != VESTA_UNWIND_COMPLETE && vesta_lost_its_stack(state, task)) {
    state->result = VESTA_UNWIND_NO_USER;
    state->frames = 0;
  }
}
