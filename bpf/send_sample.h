// Sends the record in a scratch slot, with a copy of the user stack when user space has to finish
// it.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "kernel_types.h"
#include "maps/samples.h"
#include "walk.h"

enum {
  // A stack of VESTA_STACK_COPY_BYTES that does not begin at a page touches one page more than it
  // fills.
  VESTA_COPY_CHUNKS = VESTA_STACK_COPY_BYTES / VESTA_USER_PAGE + 1,
  // Of one frame, before it is given up.
  VESTA_MISSING_PAGES = 16,
  VESTA_MAX_STACK = 8 << 20,
  // Behind the outermost frame: code that does not know its end may look at a word or two.
  VESTA_STACK_SLACK = 64,
  VESTA_PAYLOAD_BYTES = sizeof(((struct vesta_scratch*)0)->payload),
};

static __always_inline int vesta_needs_user_space(__u8 result) {
  return result == VESTA_UNWIND_NO_PROCESS || result == VESTA_UNWIND_NO_MAPPING ||
         result == VESTA_UNWIND_NO_TABLE;
}

#define VESTA_NO_END (~0ULL)

// Where the thread's stack ends: at what the kernel gave the program to begin with, or at the
// thread's descriptor, which C libraries put on top of a stack. VESTA_NO_END when it runs on
// another one (goroutines, signal stacks).
static __always_inline __u64 vesta_stack_end(__u64 sp) {
  struct task_struct* task = bpf_get_current_task_btf();
  const __u64 first = BPF_CORE_READ(task, mm, start_stack);
  if (sp < first && first - sp < VESTA_MAX_STACK) return first + VESTA_STACK_SLACK;
  const __u64 descriptor = BPF_CORE_READ(task, thread.fsbase);
  if (sp < descriptor && descriptor - sp < VESTA_MAX_STACK) return descriptor + VESTA_STACK_SLACK;
  return VESTA_NO_END;
}

// A copy of stack in the making.
struct vesta_stack_copy {
  __u64 sp;  // to be copied next
  __u64 end;
  __u32 at;    // in the buffer
  __u32 left;  // bytes that may still be copied
  __u32 slot;
  __u32 is_missing;  // the page at `sp` is not there
};

// One page at a time, because one that is not there fails a whole read. 1 ends the loop.
static __always_inline long vesta_copy_page(struct vesta_stack_copy* copy, char* buffer,
                                            __u32 capacity) {
  const __u64 sp = copy->sp;
  const __u32 at = copy->at;
  if (sp >= copy->end || at > capacity - VESTA_USER_PAGE) return 1;
  __u64 size = VESTA_USER_PAGE - (sp & (VESTA_USER_PAGE - 1));
  if (size > copy->left) size = copy->left;
  if (size > copy->end - sp) size = copy->end - sp;
  if (size == 0 || size > VESTA_USER_PAGE) return 1;
  if (bpf_probe_read_user(buffer + at, (__u32)size, (const void*)sp)) {
    copy->is_missing = 1;
    return 1;
  }
  copy->sp = sp + size;
  copy->at = at + (__u32)size;
  copy->left -= (__u32)size;
  return 0;
}

static long vesta_copy_beside_frames(__u32 turn, struct vesta_stack_copy* copy) {
  (void)turn;
  __u32 slot = copy->slot;
  struct vesta_scratch* record = bpf_map_lookup_elem(&scratch, &slot);
  return record ? vesta_copy_page(copy, (char*)record->payload, VESTA_PAYLOAD_BYTES) : 1;
}

static long vesta_copy_alone(__u32 turn, struct vesta_stack_copy* copy) {
  (void)turn;
  __u32 slot = copy->slot;
  struct vesta_more_stack* more = bpf_map_lookup_elem(&more_stack, &slot);
  return more ? vesta_copy_page(copy, more->bytes, VESTA_STACK_COPY_BYTES) : 1;
}

// Over a page that nobody has touched yet (a large frame, of which only a part is in use). It
// cannot be read here, but the stack goes on behind it. 1 ends the loop.
static long vesta_skip_missing_page(__u32 turn, struct vesta_stack_copy* copy) {
  (void)turn;
  char byte;
  if (copy->sp >= copy->end || !bpf_probe_read_user(&byte, sizeof(byte), (const void*)copy->sp))
    return 1;
  copy->sp = (copy->sp | (VESTA_USER_PAGE - 1)) + 1;
  return 0;
}

struct vesta_more_stack_walk {
  struct vesta_stack_copy copy;
  __u32 left;  // bytes that may still be sent
  __u32 sent;  // records
};

// Sends the next piece. 1 ends the loop.
static long vesta_send_piece(__u32 turn, struct vesta_more_stack_walk* walk) {
  (void)turn;
  struct vesta_stack_copy* copy = &walk->copy;
  __u32 slot = copy->slot;
  struct vesta_more_stack* more = bpf_map_lookup_elem(&more_stack, &slot);
  if (!more) return 1;
  if (copy->end != VESTA_NO_END) {
    bpf_loop(VESTA_MISSING_PAGES, vesta_skip_missing_page, copy, 0);
  } else if (copy->is_missing) {
    return 1;  // taken for the end
  }
  const __u64 sp = copy->sp;
  copy->at = 0;
  copy->left = walk->left < VESTA_STACK_COPY_BYTES ? walk->left : VESTA_STACK_COPY_BYTES;
  copy->is_missing = 0;
  bpf_loop(VESTA_COPY_CHUNKS, vesta_copy_alone, copy, 0);
  const __u32 copied = copy->at;
  if (copied == 0 || copied > VESTA_STACK_COPY_BYTES) return 1;
  more->sample.resume.sp = sp;
  more->sample.stack_bytes = (__u16)copied;
  if (bpf_ringbuf_output(&samples, more, sizeof(more->sample) + copied, BPF_RB_NO_WAKEUP)) return 1;
  walk->left -= copied;
  walk->sent += 1;
  return 0;
}

// Sends what comes after a first copy, in records of its own; returns how many.
static __always_inline __u16 vesta_send_more_stack(const struct vesta_sample* sample,
                                                   const struct vesta_stack_copy* first) {
  __u32 slot = first->slot;
  struct vesta_more_stack* more = bpf_map_lookup_elem(&more_stack, &slot);
  if (!more) return 0;
  __builtin_memset(&more->sample, 0, sizeof(more->sample));
  more->sample.probe = VESTA_STACK_PIECE;
  more->sample.time_ns = sample->time_ns;
  more->sample.cpu = sample->cpu;
  more->sample.pid = sample->pid;
  more->sample.tid = sample->tid;
  struct vesta_more_stack_walk walk = {.copy = *first, .left = VESTA_MORE_STACK_BYTES, .sent = 0};
  bpf_loop(VESTA_MORE_STACK_RECORDS, vesta_send_piece, &walk, 0);
  return (__u16)walk.sent;
}

// Gives the slot back.
static __always_inline void vesta_send(struct vesta_scratch* record, __u32 slot) {
  struct vesta_sample* sample = &record->sample;
  struct vesta_unwind_state* state = &record->state;
  sample->result = state->result;
  sample->user_frames = (__u16)state->frames;
  sample->stack_bytes = 0;
  __u32 bytes = ((__u32)sample->kernel_frames + state->frames) * 8;
  if (bytes > VESTA_MAX_FRAMES * 8) bytes = VESTA_MAX_FRAMES * 8;

  const __u64 waiting = bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA);
  const int crowded = waiting > session.ring_high_water;
  if (vesta_needs_user_space(state->result)) {
    if (crowded) {
      vesta_count(VESTA_COUNT_NOT_DEFERRED);
    } else {
      sample->resume.ip = state->ip;
      sample->resume.sp = state->sp;
      sample->resume.bp = state->bp;
      sample->resume.is_return = state->is_return;
      sample->resume.bp_lost = state->bp_lost;
      sample->resume.has_registers = state->has_registers;
      // Where it was saved may lie below the stack that is copied.
      sample->resume.bx_lost =
          vesta_current_bx(record, state, &state->registers[VESTA_REGISTER_RBX]) != 0;
      __builtin_memcpy((char*)record->payload + bytes, state->registers, sizeof(state->registers));
      bytes += sizeof(state->registers);
      // Not into the page below, which may not be there: then nothing at all could be read.
      __u32 below = (__u32)state->sp & (VESTA_USER_PAGE - 1);
      if (below > VESTA_STACK_COPY_BELOW) below = VESTA_STACK_COPY_BELOW;
      sample->stack_below = (__u16)below;
      struct vesta_stack_copy copy = {
          .sp = state->sp - below,
          .end = vesta_stack_end(state->sp),
          .at = bytes,
          .left = VESTA_STACK_COPY_BYTES,
          .slot = slot,
          .is_missing = 0,
      };
      bpf_loop(VESTA_COPY_CHUNKS, vesta_copy_beside_frames, &copy, 0);
      sample->stack_bytes = (__u16)(copy.at - bytes);
      bytes = copy.at;
      if (sample->stack_bytes != 0)
        sample->more_stack_records = vesta_send_more_stack(sample, &copy);
      vesta_count(VESTA_COUNT_DEFERRED);
    }
  }
  __u64 size = sizeof(*sample) + bytes;
  if (size > sizeof(*sample) + VESTA_PAYLOAD_BYTES) size = sizeof(*sample) + VESTA_PAYLOAD_BYTES;
  const int is_event = !(sample->link & VESTA_LINK_ENDER);
  // Polled, not woken for each sample: a wake-up costs more than the sample. But what is missing
  // should come soon.
  const int is_urgent = crowded || sample->stack_bytes != 0;
  if (bpf_ringbuf_output(&samples, sample, size,
                         is_urgent ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP)) {
    vesta_count(is_event ? VESTA_COUNT_RING_FULL : VESTA_COUNT_NO_ENDER);
    if (is_event) vesta_count_more(VESTA_COUNT_RING_FULL_VALUE, sample->values[1]);
  } else if (is_event) {
    vesta_count(VESTA_COUNT_SENT);
  }
  record->is_busy = 0;
}
