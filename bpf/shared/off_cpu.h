// What the programs of off-CPU time and user space tell each other.
#pragma once

#include "shared/sample.h"
#include "shared/thread.h"
#include "shared/types.h"

// How a thread was waiting, as far as its state says.
enum vesta_wait_class {
  VESTA_WAIT_RUN_QUEUE = 0,        // could run, but another thread did
  VESTA_WAIT_INTERRUPTIBLE = 1,    // a signal would end the wait
  VESTA_WAIT_UNINTERRUPTIBLE = 2,  // mostly for a device or a lock of the kernel
  VESTA_WAIT_STOPPED = 3,          // by a signal, or by a debugger
  VESTA_WAIT_CLASSES = 4,
};

// vesta_sample::detail of a wait.
#define VESTA_WAIT_NO_SYSCALL 0xffffULL  // in place of a number: a page fault, an interrupt
#define VESTA_WAIT_CLASS_SHIFT 16
#define VESTA_WAIT_FOR_IO (1ULL << 24)  // the kernel counts it as waiting for a device

static inline __u64 vesta_wait_detail(__u64 syscall, __u32 wait_class, __u32 is_for_io) {
  return (syscall < VESTA_WAIT_NO_SYSCALL ? syscall : VESTA_WAIT_NO_SYSCALL) |
         ((__u64)wait_class << VESTA_WAIT_CLASS_SHIFT) | (is_for_io ? VESTA_WAIT_FOR_IO : 0);
}

// Exact sums over all waits of wanted threads, sampled or not: a control.
struct vesta_wait_total {
  __u64 ns;
  __u64 waits;  // that ended
};

enum {
  // Totals by class, and those of waits that were shorter than the least that is wanted.
  VESTA_WAIT_TOTAL_SHORT = VESTA_WAIT_CLASSES,
  VESTA_WAIT_TOTALS = VESTA_WAIT_CLASSES + 1,
  // Of a wait: what it waited for, and then for a CPU.
  VESTA_WAIT_BLOCKED = 0,
  VESTA_WAIT_READY = 1,
  VESTA_WAIT_PARTS = 2,
};

// A wait that goes on at a cut, as the iterator over tasks writes it: without any separator.
struct vesta_open_wait {
  __u64 ns[VESTA_WAIT_PARTS];     // up to the cut, as sampled; 0: nothing of that part
  __u64 count[VESTA_WAIT_PARTS];  // of waits
  __u64 detail[VESTA_WAIT_PARTS];
  struct vesta_thread thread;
};
VESTA_STATIC_ASSERT(sizeof(struct vesta_open_wait) == 48 + sizeof(struct vesta_thread),
                    "no hidden padding");
