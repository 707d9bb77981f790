// Takes the stack at each call of a victim's leaf function, with the parts of the product.
#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "send_sample.h"
#include "take_stack.h"
#include "tasks.h"

SEC("uprobe")
int take_oracle_stack(struct user_registers* registers) {
  struct task_struct* task = bpf_get_current_task_btf();
  const __u32 tgid = vesta_process_of(task);
  if (!vesta_is_wanted(task, tgid)) return 0;
  struct vesta_scratch* record = vesta_begin_sample(VESTA_SCRATCH_UPROBE, task, tgid);
  if (!record) return 0;
  record->sample.values[0] = registers->si;  // the leaf's second argument: which call this is
  vesta_take_user_stack(registers, record, VESTA_SCRATCH_UPROBE, task);
  vesta_send(record, VESTA_SCRATCH_UPROBE);
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
