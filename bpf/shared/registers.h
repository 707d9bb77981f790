// User registers as the kernel saves them on entry, and as a perf_event program gets them. This
// layout is part of the system call ABI (asm/ptrace.h), so it needs no relocation.
#pragma once

#include "shared/types.h"

struct user_registers {
  __u64 r15;
  __u64 r14;
  __u64 r13;
  __u64 r12;
  __u64 bp;
  __u64 bx;
  __u64 r11;
  __u64 r10;
  __u64 r9;
  __u64 r8;
  __u64 ax;
  __u64 cx;
  __u64 dx;
  __u64 si;
  __u64 di;
  __u64 orig_ax;
  __u64 ip;
  __u64 cs;
  __u64 flags;
  __u64 sp;
  __u64 ss;
};
