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

// Of a wait in futex(2): what was asked of the kernel, as far as it tells a lock from an event. The
// operation with its flags, what the word was compared with, and whether the wait was to end by
// itself.
#define VESTA_FUTEX_CALL 202ULL
#define VESTA_FUTEX_OPERATION_SHIFT 25
#define VESTA_FUTEX_OPERATION_MASK 0x1ffULL
#define VESTA_FUTEX_VALUE_SHIFT 34
#define VESTA_FUTEX_HAS_TIMEOUT (1ULL << 36)

enum vesta_futex_value {
  VESTA_FUTEX_OTHER = 0,
  VESTA_FUTEX_TWO = 1,       // "locked, and somebody waits" in many a mutex
  VESTA_FUTEX_OWNED = 2,     // the top bit, and the thread that has it below: FUTEX_WAITERS
  VESTA_FUTEX_ALL_ONES = 3,  // a thread that parks
};

static inline __u64 vesta_futex_detail(__u64 operation, __u32 value, int has_timeout) {
  const __u64 kind = value == 2             ? VESTA_FUTEX_TWO
                     : value == 0xffffffffU ? VESTA_FUTEX_ALL_ONES
                     : value >> 31          ? VESTA_FUTEX_OWNED
                                            : VESTA_FUTEX_OTHER;
  return (operation & VESTA_FUTEX_OPERATION_MASK) << VESTA_FUTEX_OPERATION_SHIFT |
         kind << VESTA_FUTEX_VALUE_SHIFT | (has_timeout ? VESTA_FUTEX_HAS_TIMEOUT : 0);
}

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
  __u64 object;  // these two as in a sample of the first part
  __u64 link;
  struct vesta_thread thread;
};
VESTA_STATIC_ASSERT(sizeof(struct vesta_open_wait) == 64 + sizeof(struct vesta_thread),
                    "no hidden padding");
