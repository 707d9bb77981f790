#include "unwind/stack_unwinder.h"

#include <shared/unwind_state.h>

#include <algorithm>
#include <cstring>

namespace vesta {
namespace {

// What bpf/unwind.h asks for, in user space. Anonymous mappings have a module number of their own;
// all others share one, which stands for the mapping that was found last.
struct UnwindEnvironment {
  UnwindTarget& target;
  UnwindTarget::Mapping mapping;
  bool is_cut = false;  // the last read failed because the memory was not copied
};
constexpr __u32 kAnonymous = VESTA_MODULE_ANONYMOUS;
constexpr __u32 kModuleOfMapping = kAnonymous + 1;

}  // namespace

#define VESTA_ENV UnwindEnvironment*
#define VESTA_TABLE const UnwindTable*

namespace {

int vesta_read_word(VESTA_ENV env, __u64 address, __u64* value) {
  uint64_t word = 0;
  const UnwindTarget::Read read = env->target.read_word(address, word);
  env->is_cut = read == UnwindTarget::Read::kCut;
  *value = word;
  return read == UnwindTarget::Read::kDone ? 0 : 1;
}

int vesta_find_mapping(VESTA_ENV env, vesta_unwind_state* state, __u64 pc) {
  UnwindTarget::Mapping found;
  if (!env->target.find_mapping(pc, found)) return VESTA_UNWIND_NO_MAPPING;
  env->mapping = found;
  state->mapping_start = found.start;
  state->mapping_end = found.end;
  state->mapping_bias = found.bias;
  state->mapping_module = found.is_anonymous ? kAnonymous : kModuleOfMapping;
  return 0;
}

int vesta_read_code(VESTA_ENV env, const vesta_unwind_state* /*state*/, __u64 address,
                    __u64* value) {
  uint64_t word = 0;
  if (!env->target.read_code(env->mapping, address, word)) return 1;
  *value = word;
  return 0;
}

const vesta_module* vesta_get_module(VESTA_ENV env, __u32 /*module*/) {
  return env->mapping.table == nullptr ? nullptr : &env->mapping.table->header;
}

VESTA_TABLE vesta_get_table(VESTA_ENV env, __u32 /*module*/) {
  return env->mapping.table;
}

const __u64* vesta_get_cell(VESTA_TABLE table, __u32 index) {
  static_assert(sizeof(__u64) == sizeof(uint64_t));
  if (index >= table->cells.size()) return nullptr;
  return reinterpret_cast<const __u64*>(&table->cells[index]);
}

// Uses what stands above.
#include <bpf/unwind.h>

// Steps until the end; every frame after the one in `state` goes into `frames`.
vesta_unwind_result walk(UnwindEnvironment& environment, vesta_unwind_state& state,
                         std::vector<uint64_t>& frames, size_t max_frames) {
  while (true) {
    if (frames.size() >= max_frames) return VESTA_UNWIND_TRUNCATED;
    environment.is_cut = false;
    const vesta_step step = vesta_unwind_step(&environment, &state);
    if (state.is_exact != 0) frames.back() |= VESTA_FRAME_EXACT;
    if (step == VESTA_STEP_STOP) {
      if (environment.is_cut && state.result != VESTA_UNWIND_COMPLETE)
        return VESTA_UNWIND_STACK_CUT;
      return static_cast<vesta_unwind_result>(state.result);
    }
    frames.push_back(vesta_frame_word(&state));
  }
}

}  // namespace

UnwindTarget::Read CopiedMemory::read_word(uint64_t address, uint64_t& value) const {
  for (const Piece& piece : pieces_) {
    const uint64_t offset = address - piece.address;
    if (address < piece.address || offset >= piece.bytes.size()) continue;
    if (piece.bytes.size() - offset < sizeof(value)) continue;
    std::memcpy(&value, piece.bytes.data() + offset, sizeof(value));
    return UnwindTarget::Read::kDone;
  }
  return UnwindTarget::Read::kCut;
}

UnwoundStack StackUnwinder::unwind(const Registers& registers, size_t max_frames) const {
  UnwindEnvironment environment{target_, {}};
  vesta_unwind_state state{};
  state.ip = registers.ip;
  state.sp = registers.sp;
  state.bp = registers.bp;
  state.has_registers = 1;
  std::copy(registers.leaf.begin(), registers.leaf.end(), state.registers);
  UnwoundStack stack;
  stack.frames.push_back(registers.ip | VESTA_FRAME_EXACT);
  stack.result = walk(environment, state, stack.frames, max_frames);
  return stack;
}

vesta_unwind_result StackUnwinder::resume(const vesta_resume& resume,
                                          std::span<const uint64_t, VESTA_LEAF_REGISTERS> leaf,
                                          std::vector<uint64_t>& frames, size_t max_frames) const {
  UnwindEnvironment environment{target_, {}};
  vesta_unwind_state state{};
  state.ip = resume.ip;
  state.sp = resume.sp;
  state.bp = resume.bp;
  state.is_return = resume.is_return != 0 ? 1 : 0;
  state.bp_lost = resume.bp_lost != 0 ? 1 : 0;
  state.has_registers = resume.has_registers != 0 ? 1 : 0;
  state.bx_lost = resume.bx_lost != 0 ? 1 : 0;
  std::copy(leaf.begin(), leaf.end(), state.registers);
  return walk(environment, state, frames, max_frames);
}

}  // namespace vesta
