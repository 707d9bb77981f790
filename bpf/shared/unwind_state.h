// What the unwinder knows while it walks one user stack. Lives in per-CPU scratch memory on the
// kernel side and in the StackUnwinder in user space.
#pragma once

#include "shared/sample.h"
#include "shared/types.h"

struct vesta_unwind_state {
  __u64 ip;
  __u64 sp;
  __u64 bp;
  // The mapping that the last look-up hit: most frames in a row lie in one.
  __u64 mapping_start;
  __u64 mapping_end;
  __u64 mapping_bias;
  __u32 mapping_module;
  __u32 tgid;
  __u32 frames;        // user frames found, the one at `ip` included
  __u8 result;         // enum vesta_unwind_result
  __u8 is_return;      // `ip` is a return address: its call is at ip - 1
  __u8 bp_lost;        // `bp` is not the caller's; a rule that needs it fails
  __u8 has_registers;  // `registers` are those at `ip`: the innermost frame, or where a signal hit
  __u64 registers[VESTA_LEAF_REGISTERS];
  // Where rbx was saved last; 0 while it is still what it was in the innermost frame. Only its
  // place is kept, because it is hardly ever needed and reading it in each frame would cost.
  __u64 bx_address;
  __u8 bx_lost;
  __u8 trust;     // enum vesta_trust: how the frame at `ip` was found
  __u8 is_exact;  // set by a step: the frame it left was no call after all, although it is where a
                  // function returned to
  __u8 padding[5];
};
