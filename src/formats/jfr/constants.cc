#include "formats/jfr/constants.h"

#include <array>

#include "base/utf8.h"
#include "formats/jfr/names.h"

namespace vesta::jfr {

namespace {

// Class to symbol to string, with room for what other writers do.
constexpr int kMaxReferences = 6;
constexpr uint32_t kNotDecoded = UINT32_MAX;

}  // namespace

bool TextBudget::spend(uint64_t bytes) {
  if (bytes > bytes_left) {
    exhausted = true;
    return false;
  }
  bytes_left -= bytes;
  return true;
}

std::string TextBudget::clean(std::string text) {
  if (!is_valid_utf8(text)) {
    text = replace_invalid_utf8(text);
    ++invalid_utf8;
  }
  if (text.size() > max_string_bytes) {
    size_t end = max_string_bytes;
    while (end > 0 && (static_cast<uint8_t>(text[end]) & 0xc0) == 0x80) --end;
    text.resize(end);
    ++cut_names;
  }
  return text;
}

FieldProgram Constants::program(uint32_t type, std::span<const WantedField> wanted) const {
  auto compiled = compile_fields(
      types_, type,
      {.wanted = wanted, .compressed_ints = chunk_.compressed_ints, .may_stop_early = true});
  return compiled ? std::move(compiled).value() : FieldProgram();
}

bool Constants::read(uint32_t type, int64_t id, const FieldProgram& program, Slots& slots) const {
  const uint32_t position = pools_.find(type, id);
  if (position == ConstantPools::kNone) return false;
  Cursor cursor = chunk_.cursor(pools_.offset(type, position), chunk_.bytes.size());
  program.run(cursor, slots);
  return !cursor.failed();
}

const FieldProgram& Constants::text_program(uint32_t type) {
  const auto found = text_programs_.find(type);
  if (found != text_programs_.end()) return found->second;
  std::string_view chosen;
  for (const Field& field : types_[type].fields) {
    if (field.is_array) continue;
    if (field.name == "name") {
      chosen = field.name;
      break;
    }
    const bool is_text = field.type != kNoType && !field.constant_pool &&
                         types_[field.type].primitive == Primitive::kString;
    if (is_text && chosen.empty()) chosen = field.name;
  }
  const std::array<WantedField, 1> wanted{{{chosen, 0}}};
  return text_programs_.emplace(type, program(type, wanted)).first->second;
}

std::string Constants::decode(const RawString& raw, int depth) {
  if (raw.encoding == TextEncoding::kConstant) {
    const uint32_t strings = types_.by_name("java.lang.String");
    if (strings == kNoType || depth >= kMaxReferences) return {};
    return constant_text(strings, raw.constant, depth + 1);
  }
  uint64_t replaced = 0;
  std::string text = decode_text(raw, budget_.max_string_bytes, replaced);
  if (!budget_.spend(text.size() + 16)) return {};
  if (replaced > 0) ++budget_.invalid_utf8;
  return budget_.clean(std::move(text));
}

std::string Constants::constant_text(uint32_t type, int64_t id, int depth) {
  if (type == kNoType || depth >= kMaxReferences) return {};
  const FieldProgram& how = text_program(type);
  const SlotField& field = how.field(0);
  Slots slots;
  if (!field.present || !read(type, id, how, slots)) return {};
  if (field.constant_pool) return constant_text(field.type, slots.numbers[0], depth + 1);
  if (field.primitive == Primitive::kString) return decode(slots.texts[0], depth);
  return {};
}

std::string Constants::text(const SlotField& field, uint8_t slot, const Slots& slots) {
  if (!field.present) return {};
  if (field.constant_pool) return constant_text(field.type, slots.numbers[slot]);
  if (field.primitive == Primitive::kString) return decode(slots.texts[slot], 0);
  return {};
}

std::string Constants::thread_name(uint32_t type, int64_t id) {
  constexpr std::array<WantedField, 2> kWanted{{{"javaName", 0}, {"osName", 1}}};
  auto found = thread_programs_.find(type);
  if (found == thread_programs_.end())
    found = thread_programs_.emplace(type, program(type, kWanted)).first;
  Slots slots;
  if (!read(type, id, found->second, slots)) return {};
  std::string name = text(found->second.field(0), 0, slots);
  return name.empty() ? text(found->second.field(1), 1, slots) : name;
}

StringId Constants::label(const SlotField& field, uint8_t slot, const Slots& slots) {
  if (!field.present) return {};
  if (!field.constant_pool) return builder_.string(text(field, slot, slots));
  const int64_t id = slots.numbers[slot];
  const uint32_t position = pools_.find(field.type, id);
  if (position == ConstantPools::kNone) return {};
  std::vector<uint32_t>& known = labels_[field.type];
  if (known.empty()) known.resize(pools_.size(field.type), kNotDecoded);
  if (known[position] != kNotDecoded) return StringId(known[position]);
  const std::string_view type_name = types_[field.type].name;
  std::string text = type_name == "java.lang.Thread" ? thread_name(field.type, id)
                     : type_name == "java.lang.Class"
                         ? readable_class(constant_text(field.type, id))
                         : constant_text(field.type, id);
  const StringId label = builder_.string(text);
  known[position] = label.value;
  return label;
}

}  // namespace vesta::jfr
