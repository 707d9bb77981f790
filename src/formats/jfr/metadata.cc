#include "formats/jfr/metadata.h"

#include <fmt/format.h>

#include <charconv>

#include "formats/common/parse_error.h"
#include "formats/jfr/text.h"

namespace vesta::jfr {

namespace {

// A JDK has some 5,000 strings, 300 types and 2,000 fields.
constexpr size_t kMaxStrings = 1 << 20;
constexpr size_t kMaxTypes = 1 << 16;
constexpr size_t kMaxFields = 1 << 20;
constexpr size_t kMaxNameBytes = 4096;
// root, metadata, class, field, annotation
constexpr int kMaxDepth = 16;

Primitive primitive_of(std::string_view name) {
  if (name == "boolean") return Primitive::kBoolean;
  if (name == "byte") return Primitive::kByte;
  if (name == "char") return Primitive::kChar;
  if (name == "short") return Primitive::kShort;
  if (name == "int") return Primitive::kInt;
  if (name == "long") return Primitive::kLong;
  if (name == "float") return Primitive::kFloat;
  if (name == "double") return Primitive::kDouble;
  if (name == "java.lang.String") return Primitive::kString;
  return Primitive::kNone;
}

TimeUnit time_unit_of(std::string_view word) {
  if (word == "TICKS") return TimeUnit::kTicks;
  if (word == "NANOSECONDS" || word == "NANOSECONDS_SINCE_EPOCH") return TimeUnit::kNanoseconds;
  if (word == "MICROSECONDS") return TimeUnit::kMicroseconds;
  if (word == "MILLISECONDS" || word == "MILLISECONDS_SINCE_EPOCH") return TimeUnit::kMilliseconds;
  if (word == "SECONDS") return TimeUnit::kSeconds;
  return TimeUnit::kNone;
}

int64_t number_of(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

uint32_t TypeTable::by_id(int64_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? kNoType : found->second;
}

uint32_t TypeTable::by_name(std::string_view name) const {
  for (size_t i = 0; i < types_.size(); ++i)
    if (types_[i].name == name) return static_cast<uint32_t>(i);
  return kNoType;
}

class MetadataParser {
 public:
  explicit MetadataParser(const Chunk& chunk) : chunk_(chunk) {}

  Result<TypeTable> parse(size_t offset) {
    Record record;
    if (!read_record(chunk_, offset, record)) return bad_record(chunk_, offset);
    if (record.type_id != kMetadataTypeId) {
      return parse_error("jfr", chunk_.file_offset + offset,
                         fmt::format("metadata: the record there has type {}, not {}",
                                     record.type_id, kMetadataTypeId),
                         "the file is damaged");
    }
    Cursor cursor = chunk_.cursor(record.payload, record.end);
    cursor.read_long();  // start
    cursor.read_long();  // duration
    cursor.read_long();  // metadata id
    VESTA_TRY(read_strings(cursor));
    VESTA_TRY(read_element(cursor, 0, false, false));
    resolve();
    return std::move(table_);
  }

 private:
  struct Annotation {
    size_t type;
    size_t field;
    int64_t class_id;
    std::string_view value;
  };

  Error error(const Cursor& cursor, std::string_view what) const {
    return parse_error("jfr", chunk_.file_offset + cursor.offset(),
                       fmt::format("metadata: {}", what), "the file is damaged");
  }

  Status read_strings(Cursor& cursor) {
    const int32_t count = cursor.read_int();
    if (count < 0 || static_cast<size_t>(count) > kMaxStrings)
      return error(cursor, fmt::format("{} strings", count));
    for (int32_t i = 0; i < count; ++i) {
      const RawString raw = read_raw_string(cursor);
      if (cursor.failed()) return error(cursor, "a string runs past the end");
      uint64_t replaced = 0;
      table_.strings_.push_back(decode_text(raw, kMaxNameBytes, replaced));
    }
    return {};
  }

  // By index; empty when there is no such string, which the format does not forbid for attributes.
  std::string_view string_at(int32_t index) const {
    if (index < 0 || static_cast<size_t>(index) >= table_.strings_.size()) return {};
    return table_.strings_[static_cast<size_t>(index)];
  }

  Status read_element(Cursor& cursor, int depth, bool in_class, bool in_field) {
    if (depth > kMaxDepth) return error(cursor, "elements are nested too deeply");
    const std::string_view name = string_at(cursor.read_int());
    const bool is_class = name == "class" && !in_class;
    const bool is_field = name == "field" && in_class && !in_field;
    const bool is_annotation = name == "annotation" && in_field;
    Type type;
    Field field;
    Annotation annotation{};
    const int32_t attributes = cursor.read_int();
    for (int32_t i = 0; i < attributes && !cursor.failed(); ++i) {
      const std::string_view key = string_at(cursor.read_int());
      const std::string_view value = string_at(cursor.read_int());
      if (is_class) {
        if (key == "id") type.id = number_of(value);
        if (key == "name") type.name = value;
      } else if (is_field) {
        if (key == "name") field.name = value;
        if (key == "class") field.type_id = number_of(value);
        if (key == "constantPool") field.constant_pool = value == "true";
        if (key == "dimension" && number_of(value) > 1)
          return error(cursor, fmt::format("field {} has {} dimensions", field.name, value));
        if (key == "dimension") field.is_array = number_of(value) == 1;
      } else if (is_annotation) {
        if (key == "class") annotation.class_id = number_of(value);
        if (key == "value") annotation.value = value;
      }
    }
    if (is_class) {
      if (table_.types_.size() >= kMaxTypes) return error(cursor, "too many types");
      table_.types_.push_back(std::move(type));
    } else if (is_field) {
      if (++field_count_ > kMaxFields) return error(cursor, "too many fields");
      table_.types_.back().fields.push_back(field);
    } else if (is_annotation && !annotation.value.empty()) {
      annotation.type = table_.types_.size() - 1;
      annotation.field = table_.types_.back().fields.size() - 1;
      annotations_.push_back(annotation);
    }
    const int32_t children = cursor.read_int();
    for (int32_t i = 0; i < children && !cursor.failed(); ++i)
      VESTA_TRY(read_element(cursor, depth + 1, in_class || is_class, in_field || is_field));
    if (cursor.failed()) return error(cursor, "an element runs past the end");
    return {};
  }

  void resolve() {
    // A type that is described twice keeps its first description.
    for (size_t i = 0; i < table_.types_.size(); ++i) {
      Type& type = table_.types_[i];
      type.primitive = primitive_of(type.name);
      table_.by_id_.emplace(type.id, static_cast<uint32_t>(i));
    }
    for (Type& type : table_.types_)
      for (Field& field : type.fields) field.type = table_.by_id(field.type_id);
    const uint32_t timespan = table_.by_name("jdk.jfr.Timespan");
    const uint32_t timestamp = table_.by_name("jdk.jfr.Timestamp");
    for (const Annotation& annotation : annotations_) {
      const uint32_t type = table_.by_id(annotation.class_id);
      if (type == kNoType || (type != timespan && type != timestamp)) continue;
      table_.types_[annotation.type].fields[annotation.field].unit = time_unit_of(annotation.value);
    }
  }

  const Chunk& chunk_;
  TypeTable table_;
  std::vector<Annotation> annotations_;
  size_t field_count_ = 0;
};

Result<TypeTable> read_metadata(const Chunk& chunk, size_t offset) {
  return MetadataParser(chunk).parse(offset);
}

}  // namespace vesta::jfr
