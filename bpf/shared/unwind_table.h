// The unwind table of one module as the kernel program reads it, and the mappings of a process.
// Written by src/unwind and src/agent, read by bpf/unwind.h. Layout in bytes: src/unwind/README.md.
//
// A table is an array of 8-byte cells, the value type of a BPF array map:
//
//   cells [0, page_cells)            page index: two u32 per cell. Entry p is the number of the
//                                    first row whose address lies in page p or later; one entry
//                                    more than there are pages, so that page p's rows are
//                                    [index[p], index[p + 1]).
//   cells [page_cells, + row_cells)  rows: two u32 per cell, sorted by address. Low 12 bits:
//                                    address within the page; high 20 bits: number of a rule.
//   cells [.., + rule_count)         rules: one struct vesta_unwind_rule per cell. Rule 0 is
//                                    "no information".
//
// A row is in force until the next one. The row in force at the start of a page may be the last row
// of an earlier page. Addresses count from `text_start`, the lowest page with code, so that they
// fit into 32 bits whatever address the file is linked at.
#pragma once

#include "shared/types.h"

enum {
  VESTA_PAGE_BITS = 12,
  VESTA_ROW_PC_BITS = 12,
  VESTA_ROW_PC_MASK = (1 << VESTA_ROW_PC_BITS) - 1,
  // 20 bits of rule number.
  VESTA_MAX_RULES = 1 << 20,
  // Steps of the binary search within a page of 4096 possible addresses.
  VESTA_ROW_SEARCH_STEPS = 13,
};

// How the frame before (the caller's) is found. CFA = the caller's stack pointer; the return
// address is always at CFA - 8 unless said otherwise.
enum vesta_cfa_kind {
  VESTA_CFA_NONE = 0,      // no information at this address: stop, unless a frame pointer helps
  VESTA_CFA_SP = 1,        // CFA = sp + cfa_offset
  VESTA_CFA_BP = 2,        // CFA = bp + cfa_offset
  VESTA_CFA_PLT = 3,       // CFA = sp + 8, and 8 more when (pc & 15) >= cfa_offset
  VESTA_CFA_SIGNAL = 4,    // all registers are in the ucontext at sp + cfa_offset
  VESTA_CFA_END = 5,       // return address undefined: this is the outermost frame
  VESTA_CFA_DEREF_BP = 6,  // CFA = *(bp + cfa_offset) + 8 * operand: re-aligned frames
  VESTA_CFA_DEREF_SP = 7,  // CFA = *(sp + cfa_offset) + 8 * operand: hand-written assembly
  VESTA_CFA_REGISTER = 8,  // CFA = register + cfa_offset, in the innermost frame only; the register
                           // is operand
  VESTA_CFA_FRAME_POINTER = 9,  // no table, but the code keeps frame pointers (Go): CFA = bp + 16
  VESTA_CFA_UNSUPPORTED = 10,   // there is a rule, but none that we can follow
  VESTA_CFA_SP_AND_REGISTER = 11,  // CFA = sp + cfa_offset, and the return address is in
                                   // operand (vfork), in the innermost frame only
  VESTA_CFA_BX =
      12,  // CFA = rbx + cfa_offset: the dynamic linker, when it binds a function at its first call
  VESTA_CFA_DEREF_INDEXED = 13,  // CFA = *(sp + 8 * register + cfa_offset) + 8, in the innermost
                                 // frame only: assembly with an array at the stack pointer
  VESTA_CFA_KINDS = 14,
};

// Where the caller's rbp is.
enum vesta_bp_kind {
  VESTA_BP_SAME = 0,       // untouched
  VESTA_BP_AT_CFA = 1,     // *(CFA + bp_offset)
  VESTA_BP_AT_BP = 2,      // *(bp + bp_offset): re-aligned frames
  VESTA_BP_UNDEFINED = 3,  // lost; a later rule that needs it must fail
};

enum { VESTA_BX_LOST = 255 };

// Where a rule comes from, and what has to be checked before its answer counts.
enum vesta_trust {
  VESTA_TRUST_TABLE = 0,    // the file says so: call frame information, Go's function table
  VESTA_TRUST_DECODED = 1,  // read from the instructions: the caller must have made a call
  VESTA_TRUST_GUESSED = 2,  // nothing near the address moves the stack pointer: likewise, and the
                            // frame is marked
  VESTA_TRUST_EARLY = 3,    // of the byte before a function that nothing calls (signals return to
                            // it, contexts begin below it): holds for return addresses only
};

struct vesta_unwind_rule {
  __u8 cfa_kind : 4;
  __u8 bp_kind : 2;
  __u8 trust : 2;  // enum vesta_trust
  // For the kinds with a register in their name or their index, its DWARF number; for
  // VESTA_CFA_DEREF_BP and _SP, words to add. For the others, where the caller's rbx is: that many
  // words below the CFA; 0 = untouched, VESTA_BX_LOST = not known.
  __u8 operand;
  __s16 bp_offset;   // bytes
  __s32 cfa_offset;  // bytes
};
VESTA_STATIC_ASSERT(sizeof(struct vesta_unwind_rule) == 8, "a rule is one cell");

enum vesta_module_state {
  VESTA_MODULE_ABSENT = 0,  // no table loaded: user space must finish the stack (and load it)
  VESTA_MODULE_LOADED = 1,
  VESTA_MODULE_NO_TABLE = 2,  // the file has none: frame pointers only
};

// One per module slot; the BPF side keeps these in an array indexed like the map of tables.
struct vesta_module {
  __u64 text_start;  // ELF address of page 0 of the table
  __u32 page_count;
  __u32 page_cells;  // = (page_count + 2) / 2
  __u32 row_count;
  __u32 rule_cell;  // first cell of the rules
  __u32 rule_count;
  __u32 state;  // enum vesta_module_state
};

enum {
  // Module number of code without a file (JIT code, anonymous memory): frame pointers only.
  VESTA_MODULE_ANONYMOUS = 0,
  VESTA_MAPPINGS_PER_LEAF = 32,
  VESTA_LEAVES = 128,
  VESTA_MAX_MAPPINGS = VESTA_MAPPINGS_PER_LEAF * VESTA_LEAVES,
};

// An executable mapping of a process.
struct vesta_mapping {
  __u64 start;
  __u64 end;
  __u64 bias;    // address in the process = address in the ELF file + bias
  __u32 module;  // slot of its table
  __u32 padding;
};

// The mappings of a process, sorted, as a tree of two levels: the root in `processes`, keyed by
// process id; leaves in `mapping_leaves`, keyed by (process id, number of the leaf).
struct vesta_process {
  __u32 leaf_count;
  __u32 padding;
  __u64 leaf_start[VESTA_LEAVES];
};

struct vesta_leaf_key {
  __u32 tgid;
  __u32 leaf;
};

struct vesta_mapping_leaf {
  // Whose it is. The kernel may give the memory of a replaced leaf to another process while a
  // program still reads it.
  __u32 tgid;
  __u32 count;
  struct vesta_mapping mappings[VESTA_MAPPINGS_PER_LEAF];
};
