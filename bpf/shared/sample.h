// What a probe sends for each event, in the ring buffer, and what it counts.
//
// A record is a vesta_sample, then `kernel_frames` addresses and `user_frames` words (leaf first in
// each part). When the kernel side met code whose table it does not have, `stack_bytes` is not 0,
// and the VESTA_LEAF_REGISTERS registers of the innermost frame follow, then `stack_bytes` of user
// stack from `resume.sp` - `stack_below` on: user space goes on from there with the same unwinder.
#pragma once

#include "shared/types.h"

enum {
  VESTA_COMM_BYTES = 16,
  VESTA_MAX_KERNEL_FRAMES = 127,  // kernel.perf_event_max_stack
  VESTA_MAX_USER_FRAMES = 512,
  VESTA_MAX_FRAMES = 640,
  VESTA_STACK_COPY_BYTES = 24576,                       // a per-CPU value may have 32 KiB in all
  VESTA_MORE_STACK_BYTES = 3 * VESTA_STACK_COPY_BYTES,  // so that it can be 96 KiB in all
  VESTA_MORE_STACK_RECORDS = 6,  // a record ends where pages are missing, so it may take more
  // Below the stack pointer: the red zone, and what an epilogue has popped but its rules still
  // name.
  VESTA_STACK_COPY_BELOW = 128,
  VESTA_MAX_VALUES = 2,
  VESTA_LEAF_REGISTERS = 16,  // by DWARF number: 0 = rax, 6 = rbp, 7 = rsp, 10 = r10 …
};

// User addresses have their top bits free. The first marks an address that is the very instruction
// (the leaf, or where a signal hit), not the one after a call. Names of others are looked up at
// address
// - 1.
#define VESTA_FRAME_EXACT (1ULL << 63)
// So are the next two: how the frame was found, when no table says.
#define VESTA_FRAME_DECODED (1ULL << 62)  // by a rule that was read from instructions
#define VESTA_FRAME_GUESSED (1ULL << 61)  // it is only likely
#define VESTA_FRAME_BITS (VESTA_FRAME_EXACT | VESTA_FRAME_DECODED | VESTA_FRAME_GUESSED)
// A frame of a runtime is not an address but two words: this bit, the runtime's number
// (src/runtimes/runtime_table.cc) and 32 bits of its own in the first, and the second is all its
// own.
#define VESTA_FRAME_RUNTIME (1ULL << 60)
#define VESTA_FRAME_RUNTIME_SHIFT 32  // of the number, which has 8 bits

enum vesta_unwind_result {
  VESTA_UNWIND_COMPLETE = 0,     // reached the outermost frame
  VESTA_UNWIND_TRUNCATED = 1,    // more frames than VESTA_MAX_USER_FRAMES
  VESTA_UNWIND_NO_PROCESS = 2,   // mappings of this process are not known yet
  VESTA_UNWIND_NO_MAPPING = 3,   // address in no executable mapping
  VESTA_UNWIND_NO_TABLE = 4,     // the module's table is not loaded (yet)
  VESTA_UNWIND_NO_RULE = 5,      // the table says nothing about this address
  VESTA_UNWIND_UNSUPPORTED = 6,  // the rule is of a kind we cannot follow
  VESTA_UNWIND_BAD_MEMORY = 7,   // stack memory could not be read
  VESTA_UNWIND_BAD_FRAME = 8,    // the stack pointer did not move up, or the chain makes no sense
  VESTA_UNWIND_NO_USER = 9,      // a kernel thread: no user stack to unwind
  VESTA_UNWIND_STACK_CUT = 10,   // user space ran out of copied stack
  VESTA_UNWIND_RESULTS = 11,
};

// Where the kernel side stopped and user space goes on.
struct vesta_resume {
  __u64 ip;  // already the last of the user frames
  __u64 sp;
  __u64 bp;
  __u8 is_return;  // ip is a return address
  __u8 bp_lost;
  __u8 has_registers;  // the registers that follow are those at ip
  __u8 bx_lost;        // rbx among the registers is not the one at ip
  __u8 padding[4];
};

struct vesta_sample {
  __u64 time_ns;  // CLOCK_MONOTONIC
  __u64 cgroup_id;
  // What the sample stands for, one for each column of its probe: a count, nanoseconds.
  __u64 values[VESTA_MAX_VALUES];
  __u32 pid;  // process (tgid), in the agent's pid namespace
  __u32 tid;
  __u32 cpu;
  __u8 probe;   // number of the probe in its session, or VESTA_STACK_PIECE
  __u8 result;  // enum vesta_unwind_result
  __u16 kernel_frames;
  __u16 user_frames;
  __u16 stack_bytes;
  __u16 more_stack_records;  // that came before this one
  __u16 stack_below;         // of stack_bytes, those below resume.sp
  char comm[VESTA_COMM_BYTES];
  __u64 detail;  // of the event, as its probe defines it; events that differ in it are kept apart
  __u64 object;  // that the event is about, as an address in the process; 0: none
  // Records that belong together have the same number, 0: none. With VESTA_LINK_ENDER the record is no
  // event of its own but tells who ended the one that will come with the same number: its stack, or
  // that it was an interrupt.
  __u64 link;
  struct vesta_resume resume;
};
VESTA_STATIC_ASSERT(sizeof(struct vesta_sample) == 128, "no hidden padding");

#define VESTA_LINK_ENDER (1ULL << 63)

enum {
  // In place of a probe: no sample, but `stack_bytes` of stack from resume.sp on, right behind the
  // head: what did not fit into the record that comes next from this CPU, with the same time.
  VESTA_STACK_PIECE = 255,
};

// Counters of a probe in a per-CPU array, by reason. What is counted here has no record.
enum vesta_counter {
  VESTA_COUNT_SAMPLES = 0,  // events seen for wanted processes, sent or not
  VESTA_COUNT_SENT = 1,
  VESTA_COUNT_RING_FULL = 2,
  // The program interrupted another one of its kind, which has the memory.
  VESTA_COUNT_NO_SCRATCH = 3,
  VESTA_COUNT_KERNEL_STACK_FAILED = 4,
  VESTA_COUNT_MAPPING_RACE = 5,     // mappings changed under the look-up
  VESTA_COUNT_DEFERRED = 6,         // stacks that were sent to be finished in user space
  VESTA_COUNT_IGNORED = 7,          // events of processes that nobody asked for
  VESTA_COUNT_OTHER_NAMESPACE = 8,  // processes that the agent's pid namespace does not show
  VESTA_COUNT_NOT_DEFERRED =
      9,  // should have been, but the ring is too full for a copy of the stack
  // What those events stood for, in the second column of their probe, where it is not the same for
  // all.
  VESTA_COUNT_RING_FULL_VALUE = 10,
  VESTA_COUNT_NO_SCRATCH_VALUE = 11,
  VESTA_COUNT_NO_STORAGE = 12,  // the kernel had no memory for what is known of a thread
  VESTA_COUNT_NO_ENDER = 13,    // who ended an event could not be told; the event itself was
  VESTA_COUNTERS = 14,
};
