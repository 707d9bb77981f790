// The object that owns the maps which all others share, and the programs that serve every probe:
// which pid namespace the agent is in, that children of targets are targets, and when one that is
// held becomes one.
#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kernel_types.h"
#include "maps/samples.h"
#include "maps/targets.h"
#include "maps/unwind_tables.h"
#include "tasks.h"

struct vesta_namespace own_namespace = {};

SEC("syscall")
int find_namespace(void* unused) {
  (void)unused;
  struct pid* pid = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid);
  if (!pid) return 1;
  const __u32 level = BPF_CORE_READ(pid, level);
  struct upid number;
  if (vesta_read_number(pid, level, &number)) return 1;
  own_namespace.level = level;
  own_namespace.address = (__u64)number.ns;
  return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(follow_fork, struct task_struct* parent, struct task_struct* child) {
  const __u32 level = own_namespace.level;
  const __u64 address = own_namespace.address;
  const __u32 parent_tgid = vesta_process_in(parent, level, address);
  const __u32 child_tgid = vesta_process_in(child, level, address);
  if (child_tgid == 0 || child_tgid == parent_tgid ||
      vesta_target_kind(parent_tgid) != VESTA_TARGET_PROCESS)
    return 0;
  const __u8 kind = VESTA_TARGET_PROCESS;
  bpf_map_update_elem(&targets, &child_tgid, &kind, BPF_ANY);
  return 0;
}

// What a process does before it runs its program is none of the program's time.
SEC("tp_btf/sched_process_exec")
int BPF_PROG(follow_exec, struct task_struct* task) {
  const __u32 tgid = vesta_process_in(task, own_namespace.level, own_namespace.address);
  if (tgid == 0 || vesta_target_kind(tgid) != VESTA_TARGET_HELD) return 0;
  const __u8 kind = VESTA_TARGET_PROCESS;
  bpf_map_update_elem(&targets, &tgid, &kind, BPF_EXIST);
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
