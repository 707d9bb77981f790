// Takes the stack at each call of a victim's leaf function, with the parts of the product.
#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "sample_ring.h"
#include "take_stack.h"
#include "tasks.h"
#include "unwind_maps.h"

SEC("uprobe")
int take_oracle_stack(struct user_registers* registers) {
  struct task_struct* task = bpf_get_current_task_btf();
  const __u32 tgid = vesta_process_of(task);
  if (!vesta_is_wanted(task, tgid)) return 0;
  __u32 slot = VESTA_SCRATCH_UPROBE;
  struct vesta_scratch* record = bpf_map_lookup_elem(&scratch, &slot);
  if (!record) return 0;
  vesta_begin_sample(record, task, tgid);
  record->sample.weight = registers->si;  // the leaf's second argument: which call this is
  vesta_take_registers(&record->state, registers);
  vesta_walk_user_stack(record, slot);
  vesta_send(record, slot);
  return 0;
}

char LICENSE[] SEC("license") = "GPL";
