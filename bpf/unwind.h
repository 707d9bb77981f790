// One step of the unwinder: from a frame to its caller. The same source serves the kernel programs
// and user space (src/unwind/stack_unwinder.cc), where tests run it on recorded memory. C and C++.
//
// Whoever includes this gives these functions first, which hide where memory and tables are:
//   int vesta_read_word(VESTA_ENV env, __u64 address, __u64 *value)
//       0 when it could be read
//   int vesta_read_code(VESTA_ENV env, struct vesta_unwind_state *state, __u64 address,
//                       __u64 *value)
//       the same of the code in state->mapping_*
//   int vesta_find_mapping(VESTA_ENV env, struct vesta_unwind_state *state, __u64 pc)
//       fills state->mapping_*; 0, or the vesta_unwind_result that says what is missing
//   const struct vesta_module *vesta_get_module(VESTA_ENV env, __u32 module)
//       NULL when there is none
//   VESTA_TABLE vesta_get_table(VESTA_ENV env, __u32 module)
//       NULL when there is none
//   const __u64 *vesta_get_cell(VESTA_TABLE table, __u32 index)
//       NULL when out of range
#pragma once

#include "shared/unwind_state.h"
#include "shared/unwind_table.h"

enum vesta_step {
  VESTA_STEP_ON = 0,    // state is now the caller's
  VESTA_STEP_STOP = 1,  // state->result says why
};

// Registers by DWARF number (System V ABI, AMD64 supplement, figure 3.36).
enum {
  VESTA_REGISTER_RBX = 3,
  VESTA_REGISTER_RBP = 6,
  VESTA_REGISTER_RSP = 7,
};

// Where the kernel puts the interrupted registers, in bytes from the ucontext: uc_mcontext at 40
// holds r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip.
enum {
  VESTA_UCONTEXT_RBP = 40 + 80,
  VESTA_UCONTEXT_RBX = 40 + 88,
  VESTA_UCONTEXT_RSP = 40 + 120,
  VESTA_UCONTEXT_RIP = 40 + 128,
};

// How far above the stack pointer a frame pointer may be that no table vouches for.
#define VESTA_MAX_GUESSED_FRAME (1ULL << 20)

static __always_inline enum vesta_step vesta_stop(struct vesta_unwind_state* state, __u8 result) {
  state->result = result;
  return VESTA_STEP_STOP;
}

static __always_inline int vesta_in_mapping(const struct vesta_unwind_state* state, __u64 pc) {
  return pc >= state->mapping_start && pc < state->mapping_end;
}

// The u32 of a cell: cells hold two, the even one in the low half.
static __always_inline __u32 vesta_half(__u64 cell, __u32 index) {
  return (index & 1) != 0 ? (__u32)(cell >> 32) : (__u32)cell;
}

// The rule in force at `pc`, an address of the ELF file. Rule 0 when the table says nothing.
static __always_inline int vesta_find_rule(VESTA_TABLE table, const struct vesta_module* module,
                                           __u64 pc, struct vesta_unwind_rule* rule) {
  if (pc < module->text_start) return -1;
  const __u64 page = (pc - module->text_start) >> VESTA_PAGE_BITS;
  if (page >= module->page_count) return -1;
  const __u32 target = (__u32)(pc - module->text_start) & VESTA_ROW_PC_MASK;

  const __u64* cell = vesta_get_cell(table, (__u32)page >> 1);
  if (!cell) return -1;
  const __u32 first = vesta_half(*cell, (__u32)page);
  if ((page & 1) != 0) {
    cell = vesta_get_cell(table, (__u32)(page + 1) >> 1);
    if (!cell) return -1;
  }
  const __u32 last = vesta_half(*cell, (__u32)page + 1);
  if (last < first || last > module->row_count) return -1;

  // Number of rows of this page that begin at or before the target.
  __u32 low = first;
  __u32 count = last - first;
  for (int step = 0; step < VESTA_ROW_SEARCH_STEPS; ++step) {
    if (count == 0) break;
    const __u32 half = count >> 1;
    const __u32 middle = low + half;
    cell = vesta_get_cell(table, module->page_cells + (middle >> 1));
    if (!cell) return -1;
    if ((vesta_half(*cell, middle) & VESTA_ROW_PC_MASK) <= target) {
      low = middle + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  if (low == 0) return -1;
  const __u32 row = low - 1;  // may be the last row of an earlier page, which is still in force
  cell = vesta_get_cell(table, module->page_cells + (row >> 1));
  if (!cell) return -1;
  const __u32 number = vesta_half(*cell, row) >> VESTA_ROW_PC_BITS;
  if (number >= module->rule_count) return -1;
  cell = vesta_get_cell(table, module->rule_cell + number);
  if (!cell) return -1;
  __builtin_memcpy(rule, cell, sizeof(*rule));
  return 0;
}

// Calls by the bytes before the address that they return to, the last of which is the highest.
// e8 and a distance; ff with a modrm byte whose middle is 2, and what that says follows.
static __always_inline int vesta_is_direct_call(__u64 before) {
  return ((before >> 24) & 0xff) == 0xe8;
}

static __always_inline int vesta_is_indirect_call(__u64 before) {
  const __u32 end2 = (__u32)(before >> 48);           // ff modrm
  const __u32 end3 = (__u32)(before >> 40) & 0xffff;  // ff modrm, and a byte
  const __u32 end4 = (__u32)(before >> 32) & 0xffff;
  const __u32 end6 = (__u32)(before >> 16) & 0xffff;
  const __u32 end7 = (__u32)(before >> 8) & 0xffff;
  // mode: 0 = memory, 1 = memory and a byte, 2 = memory and four, 3 = register. Of the low three
  // bits 4 has another byte follow, and 5 in mode 0 four.
  if ((end2 & 0xf8ff) == 0xd0ff) return 1;
  if ((end2 & 0xf8ff) == 0x10ff && (end2 >> 8) != 0x14 && (end2 >> 8) != 0x15) return 1;
  if ((end3 & 0xf8ff) == 0x50ff && (end3 >> 8) != 0x54) return 1;
  if (end3 == 0x14ff && ((before >> 56) & 7) != 5) return 1;
  if (end4 == 0x54ff) return 1;
  if ((end6 & 0xf8ff) == 0x90ff && (end6 >> 8) != 0x94) return 1;
  if (end6 == 0x15ff) return 1;
  if (end7 == 0x94ff) return 1;
  return end7 == 0x14ff && ((before >> 24) & 7) == 5;
}

// How far a function without a table may reach from where it is called to an address in it.
#define VESTA_MAX_GUESSED_FUNCTION (1ULL << 16)

// Whether code may return to an address from `callee`: there is a call before it, which goes into
// code, and if it says where to, not past the callee. 0, or the result that says what is missing.
// Leaves the mapping of the address in `state`.
static __always_inline __u8 vesta_check_call(VESTA_ENV env, struct vesta_unwind_state* state,
                                             __u64 return_address, __u64 callee, __u8 trust) {
  const int is_near = vesta_in_mapping(state, return_address - 1);
  if (!is_near) {
    const int missing = vesta_find_mapping(env, state, return_address - 1);
    if (missing) return trust == VESTA_TRUST_DECODED ? (__u8)missing : (__u8)VESTA_UNWIND_NO_RULE;
  }
  __u64 before = 0;
  if (vesta_read_code(env, state, return_address - 8, &before)) return VESTA_UNWIND_NO_RULE;
  if (vesta_is_direct_call(before)) {
    const __u64 target = return_address + (__u64)(__s64)(__s32)(before >> 32);
    if (vesta_in_mapping(state, target) &&
        (!is_near || trust == VESTA_TRUST_DECODED ||
         (target <= callee && callee - target < VESTA_MAX_GUESSED_FUNCTION))) {
      return 0;
    }
  }
  return vesta_is_indirect_call(before) ? 0 : (__u8)VESTA_UNWIND_NO_RULE;
}

// By frame pointers: for code without tables that keeps them (Go, JIT compilers).
static __always_inline enum vesta_step vesta_step_frame_pointer(VESTA_ENV env,
                                                                struct vesta_unwind_state* state) {
  if (state->bp_lost) return vesta_stop(state, VESTA_UNWIND_NO_RULE);
  if (state->bp == 0) return vesta_stop(state, VESTA_UNWIND_COMPLETE);
  __u64 return_address = 0;
  __u64 caller_bp = 0;
  if (vesta_read_word(env, state->bp, &caller_bp) ||
      vesta_read_word(env, state->bp + 8, &return_address)) {
    return vesta_stop(state, VESTA_UNWIND_BAD_MEMORY);
  }
  if (return_address == 0) return vesta_stop(state, VESTA_UNWIND_COMPLETE);
  // Stacks may be switched (Go's system stack), so the new frame may be lower; but never the same.
  if (caller_bp == state->bp) return vesta_stop(state, VESTA_UNWIND_BAD_FRAME);
  state->sp = state->bp + 16;
  state->bp = caller_bp;
  state->bx_lost = 1;
  state->ip = return_address;
  state->is_return = 1;
  state->has_registers = 0;
  return VESTA_STEP_ON;
}

// In code that no table describes inside a file that has one (hand-written assembly): rbp may be
// anything, so follow it only if it looks like a frame pointer and leads to where a call was made.
static __always_inline enum vesta_step vesta_step_guess(VESTA_ENV env,
                                                        struct vesta_unwind_state* state) {
  __u64 return_address = 0;
  if (state->bp_lost || state->bp < state->sp || state->bp - state->sp > VESTA_MAX_GUESSED_FRAME ||
      vesta_read_word(env, state->bp + 8, &return_address) ||
      vesta_check_call(env, state, return_address, state->ip, VESTA_TRUST_GUESSED)) {
    return vesta_stop(state, VESTA_UNWIND_NO_RULE);
  }
  state->trust = VESTA_TRUST_GUESSED;
  return vesta_step_frame_pointer(env, state);
}

static __always_inline enum vesta_step vesta_step_signal(VESTA_ENV env,
                                                         struct vesta_unwind_state* state,
                                                         __u64 ucontext) {
  __u64 ip = 0;
  __u64 sp = 0;
  __u64 bp = 0;
  if (vesta_read_word(env, ucontext + VESTA_UCONTEXT_RBP, &bp) ||
      vesta_read_word(env, ucontext + VESTA_UCONTEXT_RSP, &sp) ||
      vesta_read_word(env, ucontext + VESTA_UCONTEXT_RIP, &ip)) {
    return vesta_stop(state, VESTA_UNWIND_BAD_MEMORY);
  }
  state->ip = ip;
  state->sp = sp;
  state->bp = bp;
  state->bp_lost = 0;
  state->bx_address = ucontext + VESTA_UCONTEXT_RBX;
  state->bx_lost = 0;
  state->is_return = 0;
  state->has_registers = 0;
  return VESTA_STEP_ON;
}

// rbx of the frame in `state`; not 0 when it is not known.
static __always_inline int vesta_current_bx(VESTA_ENV env, const struct vesta_unwind_state* state,
                                            __u64* bx) {
  if (state->bx_lost) return 1;
  if (state->bx_address != 0) return vesta_read_word(env, state->bx_address, bx);
  *bx = state->registers[VESTA_REGISTER_RBX];
  return 0;
}

// The return address is kept in a register while the stack belongs to somebody else: vfork.
static __always_inline enum vesta_step vesta_step_register(struct vesta_unwind_state* state,
                                                           const struct vesta_unwind_rule* rule) {
  if (!state->has_registers) return vesta_stop(state, VESTA_UNWIND_UNSUPPORTED);
  if (rule->cfa_offset < 0) return vesta_stop(state, VESTA_UNWIND_BAD_FRAME);
  state->sp += (__u64)rule->cfa_offset;
  state->ip = state->registers[rule->operand & (VESTA_LEAF_REGISTERS - 1)];
  state->is_return = 1;
  state->has_registers = 0;
  return VESTA_STEP_ON;
}

static __always_inline enum vesta_step vesta_step_rule(VESTA_ENV env,
                                                       struct vesta_unwind_state* state,
                                                       const struct vesta_unwind_rule* rule,
                                                       __u64 pc) {
  const __u64 offset = (__u64)(__s64)rule->cfa_offset;
  __u64 cfa = 0;
  if (rule->trust == VESTA_TRUST_EARLY) {
    // Only what returns to the very beginning of the function behind is meant.
    __u64 before = 0;
    if (!state->is_return || (!vesta_read_code(env, state, state->ip - 8, &before) &&
                              (vesta_is_direct_call(before) || vesta_is_indirect_call(before)))) {
      return vesta_stop(state, VESTA_UNWIND_NO_RULE);
    }
    state->is_exact = 1;
  }
  switch (rule->cfa_kind) {
    case VESTA_CFA_NONE:
      return vesta_step_guess(env, state);
    case VESTA_CFA_END:
      return vesta_stop(state, VESTA_UNWIND_COMPLETE);
    case VESTA_CFA_FRAME_POINTER:
      return vesta_step_frame_pointer(env, state);
    case VESTA_CFA_SP_AND_REGISTER:
      return vesta_step_register(state, rule);
    case VESTA_CFA_SIGNAL:
      state->is_exact = state->is_return;
      return vesta_step_signal(env, state, state->sp + offset);
    case VESTA_CFA_SP:
      cfa = state->sp + offset;
      break;
    case VESTA_CFA_PLT:
      cfa = state->sp + 8 + ((pc & 15) >= offset ? 8 : 0);
      break;
    case VESTA_CFA_BP:
      if (state->bp_lost) return vesta_stop(state, VESTA_UNWIND_UNSUPPORTED);
      cfa = state->bp + offset;
      break;
    case VESTA_CFA_DEREF_BP:
      if (state->bp_lost) return vesta_stop(state, VESTA_UNWIND_UNSUPPORTED);
      if (vesta_read_word(env, state->bp + offset, &cfa))
        return vesta_stop(state, VESTA_UNWIND_BAD_MEMORY);
      cfa += (__u64)rule->operand * 8;
      break;
    case VESTA_CFA_DEREF_SP:
      if (vesta_read_word(env, state->sp + offset, &cfa))
        return vesta_stop(state, VESTA_UNWIND_BAD_MEMORY);
      cfa += (__u64)rule->operand * 8;
      break;
    case VESTA_CFA_DEREF_INDEXED:
      if (!state->has_registers) return vesta_stop(state, VESTA_UNWIND_UNSUPPORTED);
      cfa = state->sp + 8 * state->registers[rule->operand & (VESTA_LEAF_REGISTERS - 1)] + offset;
      if (vesta_read_word(env, cfa, &cfa)) return vesta_stop(state, VESTA_UNWIND_BAD_MEMORY);
      cfa += 8;
      break;
    case VESTA_CFA_BX:
      if (vesta_current_bx(env, state, &cfa)) return vesta_stop(state, VESTA_UNWIND_UNSUPPORTED);
      cfa += offset;
      break;
    case VESTA_CFA_REGISTER:
      if (!state->has_registers) return vesta_stop(state, VESTA_UNWIND_UNSUPPORTED);
      cfa = state->registers[rule->operand & (VESTA_LEAF_REGISTERS - 1)] + offset;
      break;
    default:
      return vesta_stop(state, VESTA_UNWIND_UNSUPPORTED);
  }
  // The caller's frame lies above: anything else is a damaged stack, and would let a loop through.
  if (cfa <= state->sp) return vesta_stop(state, VESTA_UNWIND_BAD_FRAME);
  __u64 return_address = 0;
  if (vesta_read_word(env, cfa - 8, &return_address))
    return vesta_stop(state, VESTA_UNWIND_BAD_MEMORY);
  if (rule->trust != VESTA_TRUST_TABLE && return_address != 0) {
    const __u8 missing = vesta_check_call(env, state, return_address, pc, rule->trust);
    if (missing) return vesta_stop(state, missing);
    state->trust = rule->trust;
  }

  if (rule->bp_kind == VESTA_BP_UNDEFINED) {
    state->bp_lost = 1;
  } else if (rule->bp_kind != VESTA_BP_SAME) {
    if (rule->bp_kind == VESTA_BP_AT_BP && state->bp_lost)
      return vesta_stop(state, VESTA_UNWIND_UNSUPPORTED);
    const __u64 base = rule->bp_kind == VESTA_BP_AT_CFA ? cfa : state->bp;
    if (vesta_read_word(env, base + (__u64)(__s64)rule->bp_offset, &state->bp))
      return vesta_stop(state, VESTA_UNWIND_BAD_MEMORY);
    state->bp_lost = 0;
  }
  if (rule->cfa_kind == VESTA_CFA_REGISTER || rule->cfa_kind == VESTA_CFA_DEREF_BP ||
      rule->cfa_kind == VESTA_CFA_DEREF_SP || rule->cfa_kind == VESTA_CFA_DEREF_INDEXED ||
      rule->operand == VESTA_BX_LOST) {
    state->bx_lost = 1;
  } else if (rule->operand != 0) {
    state->bx_address = cfa - 8 * (__u64)rule->operand;
    state->bx_lost = 0;
  }
  // A thread whose start is not marked as outermost has nothing to return to.
  if (return_address == 0) return vesta_stop(state, VESTA_UNWIND_COMPLETE);
  state->sp = cfa;
  state->ip = return_address;
  state->is_return = 1;
  state->has_registers = 0;
  return VESTA_STEP_ON;
}

// The frame in `state` as records have it.
static __always_inline __u64 vesta_frame_word(const struct vesta_unwind_state* state) {
  __u64 word = state->ip & ~VESTA_FRAME_BITS;
  if (!state->is_return) word |= VESTA_FRAME_EXACT;
  if (state->trust == VESTA_TRUST_DECODED) word |= VESTA_FRAME_DECODED;
  if (state->trust == VESTA_TRUST_GUESSED) word |= VESTA_FRAME_GUESSED;
  return word;
}

// From the frame in `state` to its caller.
static __always_inline enum vesta_step vesta_unwind_step(VESTA_ENV env,
                                                         struct vesta_unwind_state* state) {
  const __u64 pc = state->ip - (state->is_return ? 1 : 0);
  state->trust = VESTA_TRUST_TABLE;
  state->is_exact = 0;
  if (!vesta_in_mapping(state, pc)) {
    const int missing = vesta_find_mapping(env, state, pc);
    if (missing) return vesta_stop(state, (__u8)missing);
  }
  if (state->mapping_module == VESTA_MODULE_ANONYMOUS) return vesta_step_frame_pointer(env, state);
  const struct vesta_module* module = vesta_get_module(env, state->mapping_module);
  if (!module || module->state == VESTA_MODULE_ABSENT)
    return vesta_stop(state, VESTA_UNWIND_NO_TABLE);
  if (module->state == VESTA_MODULE_NO_TABLE) return vesta_step_frame_pointer(env, state);
  VESTA_TABLE table = vesta_get_table(env, state->mapping_module);
  if (!table) return vesta_stop(state, VESTA_UNWIND_NO_TABLE);
  struct vesta_unwind_rule rule;
  __builtin_memset(&rule, 0, sizeof(rule));
  // No row is the same as a row without a rule.
  (void)vesta_find_rule(table, module, pc - state->mapping_bias, &rule);
  return vesta_step_rule(env, state, &rule, pc);
}
