// A type's fields compiled into a few steps, read this and skip that, so that any event of any JDK
// is read by its own description. Programs hold no references; run() is free of side effects
// outside its arguments.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/jfr/metadata.h"
#include "formats/jfr/text.h"

namespace vesta::jfr {

inline constexpr size_t kMaxSlots = 24;
// The one slot that takes a float, as its bits: everything else that Vesta reads is an integer.
inline constexpr uint8_t kFloatSlot = kMaxSlots - 1;

// Where the values of wanted fields go.
struct Slots {
  std::array<int64_t, kMaxSlots> numbers{};
  std::array<RawString, kMaxSlots> texts{};
};

struct WantedField {
  std::string_view name;
  uint8_t slot = 0;
};

// What a slot holds in records of one type.
struct SlotField {
  bool present = false;
  bool constant_pool = false;  // the number is an id in the pool of `type`
  uint32_t type = kNoType;
  Primitive primitive = Primitive::kNone;
  TimeUnit unit = TimeUnit::kNone;
};

class FieldProgram {
 public:
  // Fills the slots of wanted fields and steps over the rest. Slots of absent fields are 0 and
  // null. The cursor fails when the fields do not fit.
  void run(Cursor& cursor, Slots& slots) const;
  // The same without clearing the slots first: for runs of one program in a row, and for programs
  // that want no field.
  void rerun(Cursor& cursor, Slots& slots) const { run_steps(steps_, cursor, slots); }

  const SlotField& field(uint8_t slot) const { return fields_[slot]; }

 private:
  friend class FieldCompiler;
  enum class Code : uint8_t { kSkipBytes, kSkipVarints, kSkipString, kRead, kArray };
  struct Step {
    Code code;
    Primitive primitive;
    uint8_t slot;
    uint32_t count;  // bytes, integers, or steps of an array's element that follow
  };
  static void run_steps(std::span<const Step> steps, Cursor& cursor, Slots& slots);

  std::vector<Step> steps_;
  std::array<SlotField, kMaxSlots> fields_{};
  bool reads_text_ = false;
};

struct CompileOptions {
  std::span<const WantedField> wanted;  // when two name one slot, the first that exists wins
  size_t first_field = 0;
  size_t field_count = SIZE_MAX;
  bool compressed_ints = false;
  // Leave out what follows the last wanted field: for records that know their size.
  bool may_stop_early = false;
};

// The message says which field cannot be read: of a type that nobody describes, or of one that
// contains itself.
Result<FieldProgram> compile_fields(const TypeTable& types, uint32_t type,
                                    const CompileOptions& options);

}  // namespace vesta::jfr
