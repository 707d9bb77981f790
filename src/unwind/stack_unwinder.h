// The unwinder of the kernel programs in user space: the same step (bpf/unwind.h), on memory and
// tables that the caller has. Finishes stacks that the kernel side could not, and is what tests run
// on recorded memory. Keeps no state between stacks; one for each thread.
#pragma once

#include <shared/sample.h>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "unwind/unwind_table.h"

namespace vesta {

struct Registers {
  uint64_t ip = 0;
  uint64_t sp = 0;
  uint64_t bp = 0;
  std::array<uint64_t, VESTA_LEAF_REGISTERS> leaf{};  // by DWARF number; of the innermost frame
};

// What the unwinder asks about the process whose stack it walks.
class UnwindTarget {
 public:
  struct Mapping {
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t bias = 0;                   // address in the process = address in the ELF file + bias
    bool is_anonymous = false;           // code without a file: frame pointers only
    const UnwindTable* table = nullptr;  // null: there is a file, but its table is not known.
                                         // Must be valid, see validate()
  };
  enum class Read { kDone, kFailed, kCut /* would be there, but was not copied */ };

  virtual ~UnwindTarget() = default;
  // The executable mapping that holds `pc`; false when there is none.
  virtual bool find_mapping(uint64_t pc, Mapping& mapping) = 0;
  virtual Read read_word(uint64_t address, uint64_t& value) = 0;
  // Eight bytes of code in a mapping that find_mapping() gave; false when they cannot be read, and
  // then nothing that needs them to be sure is believed.
  virtual bool read_code(const Mapping& /*mapping*/, uint64_t /*address*/, uint64_t& /*value*/) {
    return false;
  }
};

// Memory as it was copied: one or more pieces, by address.
class CopiedMemory {
 public:
  void add(uint64_t address, std::string_view bytes) { pieces_.push_back({address, bytes}); }
  UnwindTarget::Read read_word(uint64_t address, uint64_t& value) const;

 private:
  struct Piece {
    uint64_t address;
    std::string_view bytes;
  };
  std::vector<Piece> pieces_;
};

struct UnwoundStack {
  std::vector<uint64_t> frames;  // innermost first, with VESTA_FRAME_BITS
  vesta_unwind_result result = VESTA_UNWIND_COMPLETE;
};

class StackUnwinder {
 public:
  // `target` must outlive this.
  explicit StackUnwinder(UnwindTarget& target) : target_(target) {}

  UnwoundStack unwind(const Registers& registers, size_t max_frames = VESTA_MAX_USER_FRAMES) const;

  // Goes on where the kernel side stopped. `frames` holds what it found, of which the last is
  // resume.ip; more are appended, up to max_frames in all.
  vesta_unwind_result resume(const vesta_resume& resume,
                             std::span<const uint64_t, VESTA_LEAF_REGISTERS> leaf,
                             std::vector<uint64_t>& frames,
                             size_t max_frames = VESTA_MAX_USER_FRAMES) const;

 private:
  UnwindTarget& target_;
};

}  // namespace vesta
