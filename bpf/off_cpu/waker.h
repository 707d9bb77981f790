// Who ended a wait: the current thread, or an interrupt that hit it, which its kernel stack tells.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "off_cpu/estimate.h"
#include "off_cpu/waits.h"
#include "send_sample.h"
#include "shared/off_cpu.h"
#include "take_stack.h"
#include "tasks.h"

// Sends the stack of whoever wakes the thread, with a number that the thread's own sample will carry.
static __noinline int vesta_tell_waker(void* context, struct vesta_wait* wait) {
  if (!context || !wait) return 0;
  const __u32 slot = VESTA_SCRATCH_WAKER;
  struct vesta_scratch* record = bpf_map_lookup_elem(&scratch, &slot);
  if (!record || record->is_busy) {
    vesta_count(VESTA_COUNT_NO_ENDER);
    return 0;
  }
  struct task_struct* task = bpf_get_current_task_btf();
  record = vesta_begin_sample(slot, task, vesta_process_of(task));
  if (!record) return 0;
  const __u64 link = vesta_random() >> 1 | 1;
  record->sample.link = link | VESTA_LINK_ENDER;
  vesta_take_kernel_stack(context, record);
  vesta_take_user_stack(0, record, slot, task);
  vesta_send(record, slot);
  wait->link = link;
  return 0;
}
