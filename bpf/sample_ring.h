// Sends the record in a scratch slot, with a copy of the user stack when user space has to finish
// it.
#pragma once

#include "unwind_maps.h"

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 4096);  // set by user space before loading
} samples SEC(".maps");

// Above this many unread bytes stacks are no longer copied, and the reader is woken.
const volatile __u64 ring_high_water = 0;

enum {
  VESTA_USER_PAGE = 4096,
  // A stack of VESTA_STACK_COPY_BYTES that does not begin at a page touches one page more than it
  // fills.
  VESTA_COPY_CHUNKS = VESTA_STACK_COPY_BYTES / VESTA_USER_PAGE + 1,
  VESTA_PAYLOAD_BYTES = sizeof(((struct vesta_scratch*)0)->payload),
};

static __always_inline int vesta_needs_user_space(__u8 result) {
  return result == VESTA_UNWIND_NO_PROCESS || result == VESTA_UNWIND_NO_MAPPING ||
         result == VESTA_UNWIND_NO_TABLE;
}

// What of a deep stack does not fit beside the frames.
struct vesta_more_stack {
  struct vesta_sample sample;
  char bytes[VESTA_STACK_COPY_BYTES + VESTA_USER_PAGE];  // room for the verifier behind a last part
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, VESTA_SCRATCH_SLOTS);
  __type(key, __u32);
  __type(value, struct vesta_more_stack);
} more_stack SEC(".maps");

// Copies up to VESTA_STACK_COPY_BYTES of stack to `offset` in a buffer of `capacity` bytes; page by
// page, because one page that is not there fails a whole read.
static __always_inline __u32 vesta_copy_stack(char* buffer, __u32 capacity, __u32 offset,
                                              __u64 sp) {
  __u32 copied = 0;
  for (int chunk = 0; chunk < VESTA_COPY_CHUNKS; ++chunk) {
    __u32 size = VESTA_USER_PAGE - (__u32)((sp + copied) & (VESTA_USER_PAGE - 1));
    if (size > VESTA_STACK_COPY_BYTES - copied) size = VESTA_STACK_COPY_BYTES - copied;
    if (size == 0 || size > VESTA_USER_PAGE) break;
    __u32 at = offset + copied;
    if (at > capacity - VESTA_USER_PAGE) break;
    if (bpf_probe_read_user(buffer + at, size, (const void*)(sp + copied))) break;
    copied += size;
  }
  return copied;
}

// Sends the stack from `sp` on in records of its own; returns how many.
static __always_inline __u16 vesta_send_more_stack(const struct vesta_sample* sample, __u32 slot,
                                                   __u64 sp) {
  struct vesta_more_stack* more = bpf_map_lookup_elem(&more_stack, &slot);
  if (!more) return 0;
  __builtin_memset(&more->sample, 0, sizeof(more->sample));
  more->sample.kind = VESTA_SAMPLE_MORE_STACK;
  more->sample.time_ns = sample->time_ns;
  more->sample.cpu = sample->cpu;
  more->sample.pid = sample->pid;
  more->sample.tid = sample->tid;
  __u16 sent = 0;
  for (int part = 0; part < VESTA_MORE_STACK_RECORDS; ++part) {
    __u32 copied = vesta_copy_stack(more->bytes, sizeof(more->bytes), 0, sp);
    if (copied == 0 || copied > VESTA_STACK_COPY_BYTES) break;
    more->sample.resume.sp = sp;
    more->sample.stack_bytes = (__u16)copied;
    if (bpf_ringbuf_output(&samples, more, sizeof(more->sample) + copied, BPF_RB_NO_WAKEUP)) break;
    sent += 1;
    if (copied < VESTA_STACK_COPY_BYTES) break;
    sp += copied;
  }
  return sent;
}

static __always_inline void vesta_send(struct vesta_scratch* record, __u32 slot) {
  struct vesta_sample* sample = &record->sample;
  struct vesta_unwind_state* state = &record->state;
  sample->result = state->result;
  sample->user_frames = (__u16)state->frames;
  sample->stack_bytes = 0;
  __u32 bytes = ((__u32)sample->kernel_frames + state->frames) * 8;
  if (bytes > VESTA_MAX_FRAMES * 8) bytes = VESTA_MAX_FRAMES * 8;

  const __u64 waiting = bpf_ringbuf_query(&samples, BPF_RB_AVAIL_DATA);
  const int crowded = waiting > ring_high_water;
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
      const __u64 start = state->sp - below;
      const __u32 copied =
          vesta_copy_stack((char*)record->payload, VESTA_PAYLOAD_BYTES, bytes, start);
      sample->stack_bytes = (__u16)copied;
      bytes += copied;
      if (copied == VESTA_STACK_COPY_BYTES)
        sample->more_stack_records = vesta_send_more_stack(sample, slot, start + copied);
      vesta_count(VESTA_COUNT_DEFERRED);
    }
  }
  __u64 size = sizeof(*sample) + bytes;
  if (size > sizeof(*sample) + VESTA_PAYLOAD_BYTES) size = sizeof(*sample) + VESTA_PAYLOAD_BYTES;
  // Polled, not woken for each sample: a wake-up costs more than the sample. But what is missing
  // should come soon.
  const int is_urgent = crowded || sample->stack_bytes != 0;
  if (bpf_ringbuf_output(&samples, sample, size,
                         is_urgent ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP)) {
    vesta_count(VESTA_COUNT_RING_FULL);
  } else {
    vesta_count(VESTA_COUNT_SENT);
  }
}
