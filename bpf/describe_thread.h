// A thread as an iterator over tasks finds it: what the kernel saved when it left user code and when
// it left a CPU. Touches no thread.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "shared/thread.h"
#include "tasks.h"

// Context of an iterator over tasks; the layout is the kernel's interface to programs.
struct bpf_iter_meta {
  struct seq_file* seq;
  __u64 session_id;
  __u64 seq_num;
};
struct bpf_iter__task {
  struct bpf_iter_meta* meta;
  struct task_struct* task;
};

static __always_inline void vesta_read_user_registers(struct vesta_thread* record,
                                                      struct task_struct* task) {
  __builtin_memset(&record->registers, 0, sizeof(record->registers));
  if ((task->flags & VESTA_PF_NO_USER) || !task->mm) return;
  const void* regs = (const void*)bpf_task_pt_regs(task);
  if (bpf_probe_read_kernel(&record->registers, sizeof(record->registers), regs)) return;
  if (record->registers.cs == VESTA_USER_CODE_64) {
    record->flags |= VESTA_THREAD_HAS_USER;
  } else if (vesta_is_user_code(record->registers.cs)) {
    record->flags |= VESTA_THREAD_32_BIT;
  }
}

static __always_inline void vesta_describe_thread(struct vesta_thread* record,
                                                  struct task_struct* task, __u32 tgid) {
  record->flags = 0;
  record->padding = 0;
  record->pid = tgid;
  record->tid = vesta_thread_of(task);
  record->state = BPF_CORE_READ(task, __state);
  record->switches = BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
  if (bpf_core_field_exists(task->on_cpu) && BPF_CORE_READ(task, on_cpu))
    record->flags |= VESTA_THREAD_ON_CPU;
  bpf_probe_read_kernel_str(record->comm, sizeof(record->comm), task->comm);
  vesta_read_user_registers(record, task);
  record->kernel_frames = 0;
  if (!(record->flags & VESTA_THREAD_ON_CPU)) {
    const long bytes = bpf_get_task_stack(task, record->frames, sizeof(record->frames), 0);
    if (bytes > 0) record->kernel_frames = (__u32)(bytes / 8);
  }
}
