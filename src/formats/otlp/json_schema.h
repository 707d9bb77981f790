// The messages of OTLP profiles as data: names, numbers and kinds of their fields. Constants only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vesta::otlp {

enum class FieldKind : uint8_t {
  kString,
  kBytes,    // base64 in JSON
  kId16,     // hex in JSON
  kId8,      // hex in JSON
  kInteger,  // of 32 bits: a number in JSON
  kLong,     // of 64 bits: a string in JSON
  kUnsignedLong,
  kFixed64,
  kBool,
  kDouble,
  kMessage,
  kRefused,  // a field of releases that are not read
};

struct MessageSchema;

struct FieldSchema {
  std::string_view name;  // lowerCamelCase
  uint32_t number;
  FieldKind kind;
  bool is_repeated = false;
  const MessageSchema* message = nullptr;  // kMessage
};

struct MessageSchema {
  std::span<const FieldSchema> fields;
  bool is_any_value = false;  // the one message that nests without end
};

extern const MessageSchema kProfilesDataSchema;

}  // namespace vesta::otlp
