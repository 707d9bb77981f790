// The threads of some processes as they are now, waiting or not: runs for each task of the host
// when user space reads the iterator's file. Reads what the kernel saved when a thread left user
// code; touches no thread.
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

// A record under construction; there is one reader.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct vesta_thread);
} thread_record SEC(".maps");

static __always_inline void vesta_read_user_registers(struct vesta_thread* record,
                                                      struct task_struct* task) {
  __builtin_memset(&record->registers, 0, sizeof(record->registers));
  if ((task->flags & VESTA_PF_KTHREAD) || !task->mm) return;
  const void* regs = (const void*)bpf_task_pt_regs(task);
  if (bpf_probe_read_kernel(&record->registers, sizeof(record->registers), regs)) return;
  if (record->registers.cs == VESTA_USER_CODE_64) {
    record->flags |= VESTA_THREAD_HAS_USER;
  } else if (vesta_is_user_code(record->registers.cs)) {
    record->flags |= VESTA_THREAD_32_BIT;
  }
}

SEC("iter/task")
int write_thread(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task) return 0;  // the end
  const __u32 tgid = vesta_process_of(task);
  if (tgid == 0 || vesta_target_kind(tgid) == 0) return 0;
  const __u32 zero = 0;
  struct vesta_thread* record = bpf_map_lookup_elem(&thread_record, &zero);
  if (!record) return 0;
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
  bpf_seq_write(context->meta->seq, record, sizeof(*record));
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
