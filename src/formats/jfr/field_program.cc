#include "formats/jfr/field_program.h"

#include <fmt/format.h>

#include <algorithm>

namespace vesta::jfr {

namespace {

constexpr int kMaxNesting = 16;
constexpr size_t kMaxFieldVisits = 16384;

int64_t read_number(Cursor& cursor, Primitive primitive) {
  switch (primitive) {
    case Primitive::kBoolean:
      return cursor.read_byte() != 0;
    case Primitive::kByte:
      return cursor.read_byte();
    case Primitive::kChar:
      return cursor.read_char();
    case Primitive::kShort:
      return cursor.read_short();
    case Primitive::kInt:
      return cursor.read_int();
    case Primitive::kLong:
      return cursor.read_long();
    case Primitive::kFloat: {
      uint32_t bits = 0;  // never compressed
      for (int i = 0; i < 4; ++i) bits = bits << 8 | static_cast<uint8_t>(cursor.read_byte());
      return bits;
    }
    case Primitive::kDouble:
    case Primitive::kString:
    case Primitive::kNone:
      break;
  }
  cursor.fail();
  return 0;
}

uint32_t fixed_bytes(Primitive primitive) {
  switch (primitive) {
    case Primitive::kBoolean:
    case Primitive::kByte:
      return 1;
    case Primitive::kChar:
    case Primitive::kShort:
      return 2;
    case Primitive::kInt:
    case Primitive::kFloat:
      return 4;
    case Primitive::kLong:
    case Primitive::kDouble:
      return 8;
    case Primitive::kString:
    case Primitive::kNone:
      break;
  }
  return 0;
}

bool is_compressible(Primitive primitive) {
  return primitive == Primitive::kChar || primitive == Primitive::kShort ||
         primitive == Primitive::kInt || primitive == Primitive::kLong;
}

}  // namespace

void FieldProgram::run(Cursor& cursor, Slots& slots) const {
  slots.numbers.fill(0);
  if (reads_text_) slots.texts.fill({});
  run_steps(steps_, cursor, slots);
}

void FieldProgram::run_steps(std::span<const Step> steps, Cursor& cursor, Slots& slots) {
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    switch (step.code) {
      case Code::kSkipBytes:
        cursor.skip(step.count);
        break;
      case Code::kSkipVarints:
        cursor.skip_varints(step.count);
        break;
      case Code::kSkipString:
        read_raw_string(cursor);
        break;
      case Code::kRead:
        if (step.primitive == Primitive::kString) {
          slots.texts[step.slot] = read_raw_string(cursor);
        } else {
          slots.numbers[step.slot] = read_number(cursor, step.primitive);
        }
        break;
      case Code::kArray: {
        const std::span<const Step> element = steps.subspan(i + 1, step.count);
        i += step.count;
        const int32_t count = cursor.read_int();
        if (count < 0) return cursor.fail();
        const auto elements = static_cast<uint64_t>(count);
        // An element without fields takes no bytes, so its number is not bounded by the input.
        if (element.empty()) break;
        if (element.size() == 1 && element[0].code == Code::kSkipVarints) {
          cursor.skip_varints(elements * element[0].count);
        } else if (element.size() == 1 && element[0].code == Code::kSkipBytes) {
          cursor.skip(elements * element[0].count);
        } else {
          for (uint64_t n = 0; n < elements && !cursor.failed(); ++n)
            run_steps(element, cursor, slots);
        }
        break;
      }
    }
  }
}

class FieldCompiler {
 public:
  using Code = FieldProgram::Code;
  using Step = FieldProgram::Step;

  FieldCompiler(const TypeTable& types, const CompileOptions& options)
      : types_(types), options_(options) {}

  Result<FieldProgram> compile(uint32_t type_position) {
    const Type& type = types_[type_position];
    if (type.primitive != Primitive::kNone) {
      Field self;
      self.type = type_position;
      self.type_id = type.id;
      VESTA_TRY(add_value(self, wanted_slot(type, self), 0));
    } else {
      const size_t first = std::min(options_.first_field, type.fields.size());
      const size_t last = first + std::min(options_.field_count, type.fields.size() - first);
      for (size_t i = first; i < last; ++i) {
        const Field& field = type.fields[i];
        VESTA_TRY(add_field(field, wanted_slot(type, field), 0));
      }
    }
    if (options_.may_stop_early) drop_tail();
    return std::move(program_);
  }

 private:
  // The first wanted name that the type has decides for its slot. -1 when nobody wants the field.
  int wanted_slot(const Type& type, const Field& field) {
    for (const WantedField& want : options_.wanted) {
      if (want.name != field.name) continue;
      for (const WantedField& other : options_.wanted) {
        if (&other == &want) break;
        if (other.slot != want.slot) continue;
        for (const Field& candidate : type.fields)
          if (candidate.name == other.name) return -1;
      }
      return program_.fields_[want.slot].present ? -1 : want.slot;
    }
    return -1;
  }

  void push(Code code, uint32_t count, Primitive primitive = Primitive::kNone, uint8_t slot = 0) {
    std::vector<Step>& steps = program_.steps_;
    const bool merges = code == Code::kSkipBytes || code == Code::kSkipVarints;
    if (merges && steps.size() > barrier_ && steps.back().code == code) {
      steps.back().count += count;
    } else {
      steps.push_back({code, primitive, slot, count});
    }
  }

  void push_skip(Primitive primitive) {
    if (primitive == Primitive::kString) return push(Code::kSkipString, 1);
    if (options_.compressed_ints && is_compressible(primitive)) return push(Code::kSkipVarints, 1);
    push(Code::kSkipBytes, fixed_bytes(primitive));
  }

  Status add_field(const Field& field, int slot, int depth) {
    // Structures without fields make no steps, so visits are what must be bounded.
    if (++visited_ > kMaxFieldVisits)
      return Error{ErrorCode::kInvalidInput, fmt::format("{}: too many fields", field.name), {}};
    if (!field.is_array) return add_value(field, slot, depth);
    const size_t array_step = program_.steps_.size();
    program_.steps_.push_back({Code::kArray, Primitive::kNone, 0, 0});
    barrier_ = program_.steps_.size();
    VESTA_TRY(add_value(field, -1, depth));
    program_.steps_[array_step].count =
        static_cast<uint32_t>(program_.steps_.size() - array_step - 1);
    barrier_ = program_.steps_.size();
    return {};
  }

  Status add_value(const Field& field, int slot, int depth) {
    const Primitive primitive = field.constant_pool     ? Primitive::kLong
                                : field.type == kNoType ? Primitive::kNone
                                                        : types_[field.type].primitive;
    if (primitive == Primitive::kNone) {
      if (field.type == kNoType) {
        return Error{ErrorCode::kInvalidInput,
                     fmt::format("{}: unknown type {}", field.name, field.type_id),
                     {}};
      }
      if (depth >= kMaxNesting) {
        return Error{ErrorCode::kInvalidInput,
                     fmt::format("{}: its type {} contains itself or is nested too deeply",
                                 field.name, types_[field.type].name),
                     {}};
      }
      for (const Field& inner : types_[field.type].fields)
        VESTA_TRY(add_field(inner, -1, depth + 1));
      return {};
    }
    const bool readable = slot == kFloatSlot
                              ? primitive == Primitive::kFloat
                              : primitive != Primitive::kFloat && primitive != Primitive::kDouble;
    if (slot < 0 || !readable) {
      push_skip(primitive);
      return {};
    }
    push(Code::kRead, 1, primitive, static_cast<uint8_t>(slot));
    program_.fields_[static_cast<size_t>(slot)] = {true, field.constant_pool, field.type, primitive,
                                                   field.unit};
    program_.reads_text_ |= primitive == Primitive::kString;
    return {};
  }

  void drop_tail() {
    // Array elements read nothing, so the last read is a step of the top level.
    std::vector<Step>& steps = program_.steps_;
    while (!steps.empty() && steps.back().code != Code::kRead) steps.pop_back();
  }

  const TypeTable& types_;
  const CompileOptions& options_;
  FieldProgram program_;
  size_t visited_ = 0;
  size_t barrier_ = 0;  // steps before this one are closed: skips do not merge into them
};

Result<FieldProgram> compile_fields(const TypeTable& types, uint32_t type,
                                    const CompileOptions& options) {
  return FieldCompiler(types, options).compile(type);
}

}  // namespace vesta::jfr
