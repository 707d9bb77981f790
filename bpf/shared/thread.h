// A thread as the iterator over tasks writes it: one record each, without any separator.
#pragma once

#include "shared/registers.h"
#include "shared/sample.h"
#include "shared/types.h"

enum vesta_thread_flags {
  VESTA_THREAD_ON_CPU = 1,    // runs now: registers and kernel stack are old
  VESTA_THREAD_HAS_USER = 2,  // `registers` are those with which it left 64-bit user code
  VESTA_THREAD_32_BIT = 4,    // it runs 32-bit code, which is not walked
};

struct vesta_thread {
  __u64 switches;  // times it left a CPU: unchanged when it has not run in between
  __u32 pid;       // in the reader's pid namespace
  __u32 tid;
  __u32 state;  // task_struct::__state
  __u32 flags;  // enum vesta_thread_flags
  __u32 kernel_frames;
  __u32 padding;
  char comm[VESTA_COMM_BYTES];
  struct user_registers registers;
  __u64 frames[VESTA_MAX_KERNEL_FRAMES];  // of the kernel, leaf first
};
VESTA_STATIC_ASSERT(sizeof(struct vesta_thread) == 48 + 21 * 8 + 127 * 8, "no hidden padding");
