// The unwinder's surroundings on the kernel side: how it reads memory and the session's maps, and
// the loop over frames. Included by every program that takes user stacks.
#pragma once

#include <linux/bpf.h>
// After linux/bpf.h, whose types they use.
#include <bpf/bpf_helpers.h>

#include "maps/samples.h"
#include "maps/unwind_tables.h"

// What bpf/unwind.h asks for.
typedef struct vesta_scratch* vesta_env;
#define VESTA_ENV vesta_env
#define VESTA_TABLE void*

static __always_inline int vesta_read_word(vesta_env env, __u64 address, __u64* value) {
  (void)env;
  return bpf_probe_read_user(value, sizeof(*value), (const void*)address) != 0;
}

static __always_inline int vesta_read_code(vesta_env env, struct vesta_unwind_state* state,
                                           __u64 address, __u64* value) {
  (void)state;
  return vesta_read_word(env, address, value);
}

static __always_inline const struct vesta_module* vesta_get_module(vesta_env env, __u32 module) {
  (void)env;
  return bpf_map_lookup_elem(&modules, &module);
}

static __always_inline void* vesta_get_table(vesta_env env, __u32 module) {
  (void)env;
  return bpf_map_lookup_elem(&tables, &module);
}

static __always_inline const __u64* vesta_get_cell(void* table, __u32 index) {
  return bpf_map_lookup_elem(table, &index);
}

enum {
  // Steps of the two binary searches: 2^7 leaves, 2^5 mappings in a leaf, and one step each to end.
  VESTA_LEAF_SEARCH_STEPS = 8,
  VESTA_MAPPING_SEARCH_STEPS = 6,
};

static __always_inline int vesta_find_mapping(vesta_env env, struct vesta_unwind_state* state,
                                              __u64 pc) {
  (void)env;
  const __u32 tgid = state->tgid;
  const struct vesta_process* process = bpf_map_lookup_elem(&processes, &tgid);
  if (!process) return VESTA_UNWIND_NO_PROCESS;

  __u32 low = 0;
  __u32 count = process->leaf_count;
  for (int step = 0; step < VESTA_LEAF_SEARCH_STEPS; ++step) {
    if (count == 0) break;
    const __u32 half = count >> 1;
    const __u32 middle = low + half;
    if (middle >= VESTA_LEAVES) return VESTA_UNWIND_NO_MAPPING;
    if (process->leaf_start[middle] <= pc) {
      low = middle + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  if (low == 0) return VESTA_UNWIND_NO_MAPPING;
  struct vesta_leaf_key key = {.tgid = tgid, .leaf = low - 1};
  const struct vesta_mapping_leaf* leaf = bpf_map_lookup_elem(&mapping_leaves, &key);
  if (!leaf) {
    vesta_count(VESTA_COUNT_MAPPING_RACE);
    return VESTA_UNWIND_NO_PROCESS;
  }

  low = 0;
  count = leaf->count;
  for (int step = 0; step < VESTA_MAPPING_SEARCH_STEPS; ++step) {
    if (count == 0) break;
    const __u32 half = count >> 1;
    const __u32 middle = low + half;
    if (middle >= VESTA_MAPPINGS_PER_LEAF) return VESTA_UNWIND_NO_MAPPING;
    if (leaf->mappings[middle].start <= pc) {
      low = middle + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  const __u32 found = low - 1;
  if (found >= VESTA_MAPPINGS_PER_LEAF) return VESTA_UNWIND_NO_MAPPING;
  const struct vesta_mapping* mapping = &leaf->mappings[found];
  if (pc >= mapping->end) return VESTA_UNWIND_NO_MAPPING;
  state->mapping_start = mapping->start;
  state->mapping_end = mapping->end;
  state->mapping_bias = mapping->bias;
  state->mapping_module = mapping->module;
  // After the copy: what was read must have been this process's all along.
  if (leaf->tgid != tgid) {
    state->mapping_end = 0;
    vesta_count(VESTA_COUNT_MAPPING_RACE);
    return VESTA_UNWIND_NO_PROCESS;
  }
  return 0;
}

#include "unwind.h"

struct vesta_walk {
  __u32 slot;
};

// One turn of bpf_loop: notes the frame, goes to its caller. 1 ends the loop.
static long vesta_walk_frame(__u32 turn, struct vesta_walk* walk) {
  (void)turn;
  __u32 slot = walk->slot;
  struct vesta_scratch* record = bpf_map_lookup_elem(&scratch, &slot);
  if (!record) return 1;
  struct vesta_unwind_state* state = &record->state;
  if (state->frames >= VESTA_MAX_USER_FRAMES) {
    state->result = VESTA_UNWIND_TRUNCATED;
    return 1;
  }
  const __u32 index = (__u32)record->sample.kernel_frames + state->frames;
  if (index >= VESTA_MAX_FRAMES) {
    state->result = VESTA_UNWIND_TRUNCATED;
    return 1;
  }
  record->payload[index] = vesta_frame_word(state);
  state->frames += 1;
  const enum vesta_step step = vesta_unwind_step(record, state);
  if (state->is_exact) record->payload[index] |= VESTA_FRAME_EXACT;
  return step == VESTA_STEP_STOP;
}

// Walks the user stack whose registers are in the scratch slot's state. Frames go behind the
// kernel's.
static __always_inline void vesta_walk_user_stack(struct vesta_scratch* record, __u32 slot) {
  struct vesta_walk walk = {.slot = slot};
  record->state.frames = 0;
  record->state.result = VESTA_UNWIND_TRUNCATED;
  record->state.mapping_start = 0;
  record->state.mapping_end = 0;
  record->state.bx_address = 0;
  record->state.bx_lost = 0;
  record->state.trust = VESTA_TRUST_TABLE;
  // One turn more than frames: the last only notices that there is no room.
  bpf_loop(VESTA_MAX_USER_FRAMES + 1, vesta_walk_frame, &walk, 0);
}
