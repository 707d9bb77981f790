#include "formats/otlp/json_mapping.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "base/hex.h"
#include "base/json_reader.h"
#include "base/json_writer.h"
#include "formats/common/parse_error.h"
#include "formats/otlp/base64.h"
#include "formats/otlp/conventions.h"
#include "formats/otlp/json_schema.h"
#include "formats/protobuf/wire.h"

namespace vesta::otlp {
namespace {

namespace dom = simdjson::dom;

// Deep enough for values that nest kMaxValueDepth times, three levels of JSON each.
constexpr size_t kMaxJsonDepth = 256;

const FieldSchema* find_field(const MessageSchema& schema, std::string_view name,
                              std::string& scratch) {
  if (name.find('_') != std::string_view::npos) {
    scratch.clear();
    for (size_t i = 0; i < name.size(); ++i) {
      if (name[i] == '_' && i + 1 < name.size() && name[i + 1] >= 'a' && name[i + 1] <= 'z') {
        scratch.push_back(static_cast<char>(name[++i] - 'a' + 'A'));
      } else {
        scratch.push_back(name[i]);
      }
    }
    name = scratch;
  }
  for (const FieldSchema& field : schema.fields) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

// An integer as protobuf's JSON mapping allows it: a number, also with an exponent, or a string.
// Negative ones come as two's complement.
std::optional<uint64_t> parse_integer(dom::element element, bool is_unsigned) {
  constexpr double kTwoTo63 = 9223372036854775808.0;
  switch (element.type()) {
    case dom::element_type::INT64: {
      const int64_t value = element.get_int64().value_unsafe();
      if (is_unsigned && value < 0) return std::nullopt;
      return static_cast<uint64_t>(value);
    }
    case dom::element_type::UINT64: {
      // simdjson has this type for what does not fit a signed one.
      if (!is_unsigned) return std::nullopt;
      return element.get_uint64().value_unsafe();
    }
    case dom::element_type::DOUBLE: {
      const double value = element.get_double().value_unsafe();
      if (std::floor(value) != value || value >= kTwoTo63 || value < -kTwoTo63) return std::nullopt;
      if (is_unsigned && value < 0) return std::nullopt;
      return static_cast<uint64_t>(static_cast<int64_t>(value));
    }
    case dom::element_type::STRING: {
      const std::string_view text = element.get_string().value_unsafe();
      const char* end = text.data() + text.size();
      if (is_unsigned) {
        uint64_t value = 0;
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (error != std::errc() || stop != end) return std::nullopt;
        return value;
      }
      int64_t value = 0;
      const auto [stop, error] = std::from_chars(text.data(), end, value);
      if (error != std::errc() || stop != end) return std::nullopt;
      return static_cast<uint64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

std::optional<double> parse_double(dom::element element) {
  double value = 0;
  if (element.get_double().get(value) == simdjson::SUCCESS) return value;
  std::string_view text;
  if (element.get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

class FromJson {
 public:
  bool message(dom::element element, const MessageSchema& schema, WireWriter& out) {
    dom::object object;
    if (element.get_object().get(object) != simdjson::SUCCESS) return fail("must be an object");
    if (schema.is_any_value && ++value_depth_ > kMaxValueDepth)
      return fail(fmt::format("values nest deeper than {} levels", kMaxValueDepth));
    for (const auto [name, value] : object) {
      const FieldSchema* field = find_field(schema, name, scratch_);
      if (field == nullptr || value.is_null()) continue;
      path_.push_back({field->name, kNoPosition});
      if (!(field->is_repeated ? repeated(value, *field, out) : single(value, *field, out)))
        return false;
      path_.pop_back();
    }
    if (schema.is_any_value) --value_depth_;
    return true;
  }

  Error take_error() { return std::move(error_); }

 private:
  static constexpr size_t kNoPosition = SIZE_MAX;
  struct Step {
    std::string_view name;
    size_t position;
  };

  bool fail(std::string_view what, std::string_view hint = {}) {
    std::string path;
    for (const Step& step : path_) {
      if (!path.empty()) path += '.';
      path += step.name;
      if (step.position != kNoPosition) path += fmt::format("[{}]", step.position);
    }
    if (path.empty()) path = "document";
    error_ = parse_error_at_field("OTLP JSON", path, what, hint);
    return false;
  }

  bool refuse_old() {
    return fail("a field of OTLP profiles 1.7 or older, which Vesta does not read",
                "upgrade the sender to one built with opentelemetry-proto 1.10 or later (1.8 and "
                "1.9 are read too)");
  }

  bool repeated(dom::element element, const FieldSchema& field, WireWriter& out) {
    dom::array array;
    if (element.get_array().get(array) != simdjson::SUCCESS) return fail("must be an array");
    const bool is_packed = field.kind == FieldKind::kInteger || field.kind == FieldKind::kLong ||
                           field.kind == FieldKind::kFixed64;
    size_t position = 0;
    std::vector<uint64_t> numbers;
    for (const dom::element item : array) {
      path_.back().position = position++;
      if (!is_packed) {
        if (!single(item, field, out)) return false;
        continue;
      }
      uint64_t number = 0;
      if (!integer(item, field.kind, number)) return false;
      numbers.push_back(number);
    }
    path_.back().position = kNoPosition;
    if (field.kind == FieldKind::kFixed64) {
      out.packed_fixed64(field.number, numbers);
    } else {
      out.packed(field.number, numbers, [](uint64_t number) { return number; });
    }
    return true;
  }

  bool integer(dom::element element, FieldKind kind, uint64_t& number) {
    const bool is_unsigned = kind == FieldKind::kUnsignedLong || kind == FieldKind::kFixed64;
    const auto value = parse_integer(element, is_unsigned);
    if (!value) {
      return fail(is_unsigned ? "must be an integer from 0 to 2^64-1, as a number or a string"
                              : "must be a 64-bit integer, as a number or a string");
    }
    number = *value;
    return true;
  }

  bool single(dom::element element, const FieldSchema& field, WireWriter& out) {
    uint64_t number = 0;
    switch (field.kind) {
      case FieldKind::kInteger:
      case FieldKind::kLong:
      case FieldKind::kUnsignedLong:
        if (!integer(element, field.kind, number)) return false;
        out.always_uint64(field.number, number);
        return true;
      case FieldKind::kFixed64:
        if (!integer(element, field.kind, number)) return false;
        out.fixed64(field.number, number);
        return true;
      case FieldKind::kBool: {
        bool truth = false;
        if (element.get_bool().get(truth) != simdjson::SUCCESS)
          return fail("must be true or false");
        out.always_uint64(field.number, truth ? 1 : 0);
        return true;
      }
      case FieldKind::kDouble: {
        const auto value = parse_double(element);
        if (!value) return fail("must be a number");
        out.always_fixed64(field.number, std::bit_cast<uint64_t>(*value));
        return true;
      }
      case FieldKind::kMessage: {
        WireWriter inner;
        if (field.name == "sampleType" && element.is_array()) return refuse_old();
        if (!message(element, *field.message, inner)) return false;
        out.message(field.number, inner);
        return true;
      }
      case FieldKind::kRefused:
        return refuse_old();
      default:
        return text(element, field, out);
    }
  }

  bool text(dom::element element, const FieldSchema& field, WireWriter& out) {
    std::string_view value;
    if (element.get_string().get(value) != simdjson::SUCCESS) return fail("must be a string");
    if (field.kind == FieldKind::kString) {
      out.always_bytes(field.number, value);
      return true;
    }
    if (field.kind == FieldKind::kBytes) {
      const auto bytes = from_base64(value);
      if (!bytes) return fail("must be base64");
      out.always_bytes(field.number, *bytes);
      return true;
    }
    // OTLP writes ids in hex; plain protobuf JSON writes base64. Their lengths differ.
    const size_t size = field.kind == FieldKind::kId16 ? 16 : 8;
    auto id = from_hex(value);
    if (!id || (id->size() != size && !value.empty())) id = from_base64(value);
    if (!id || (id->size() != size && !value.empty()))
      return fail(fmt::format("must be {} bytes, in hex", size));
    out.bytes(field.number, *id);
    return true;
  }

  std::vector<Step> path_;
  std::string scratch_;
  int value_depth_ = 0;
  Error error_;
};

const FieldSchema* find_number(const MessageSchema& schema, uint32_t number) {
  for (const FieldSchema& field : schema.fields) {
    if (field.number == number) return &field;
  }
  return nullptr;
}

void write_fields(WireReader message, const MessageSchema& schema, JsonWriter& json);

// One value, or all values of a packed field.
void write_field(WireReader& message, const FieldSchema& field, JsonWriter& json) {
  const auto integer = [&](uint64_t number) {
    if (field.kind == FieldKind::kInteger) {
      json.number(static_cast<int64_t>(number));
    } else if (field.kind == FieldKind::kLong) {
      json.string(fmt::format("{}", static_cast<int64_t>(number)));
    } else {
      json.string(fmt::format("{}", number));
    }
  };
  switch (field.kind) {
    case FieldKind::kString:
      json.string(message.bytes());
      break;
    case FieldKind::kBytes:
      json.string(to_base64(message.bytes()));
      break;
    case FieldKind::kId16:
    case FieldKind::kId8:
      json.string(to_hex(message.bytes()));
      break;
    case FieldKind::kBool:
      json.boolean(message.varint() != 0);
      break;
    case FieldKind::kDouble:
      json.number(std::bit_cast<double>(message.fixed64()));
      break;
    case FieldKind::kMessage:
      json.begin_object();
      write_fields(message.message(), *field.message, json);
      json.end_object();
      break;
    default:
      if (message.type() == WireType::kVarint) {
        integer(message.varint());
      } else if (message.type() == WireType::kFixed64) {
        integer(message.fixed64());
      } else {
        WireReader list = message.message();
        while (!list.at_end())
          integer(field.kind == FieldKind::kFixed64 ? list.fixed64() : list.read_varint());
      }
  }
}

void write_fields(WireReader message, const MessageSchema& schema, JsonWriter& json) {
  const FieldSchema* open = nullptr;  // the repeated field whose array is being written
  while (message.next()) {
    const FieldSchema* field = find_number(schema, message.field());
    if (open != nullptr && field != open) {
      json.end_array();
      open = nullptr;
    }
    if (field == nullptr) {
      message.skip();
      continue;
    }
    if (open == nullptr) json.key(field->name);
    if (field->is_repeated && open == nullptr) {
      json.begin_array();
      open = field;
    }
    write_field(message, *field, json);
  }
  if (open != nullptr) json.end_array();
}

}  // namespace

Result<std::string> json_to_protobuf(std::string_view json) {
  const auto tree = JsonTree::parse(json, {.max_bytes = simdjson::SIMDJSON_MAXSIZE_BYTES,
                                           .max_depth = kMaxJsonDepth,
                                           .repairs_text = false});
  if (!tree) {
    return parse_error_at_field("OTLP JSON", "document", tree.error().message,
                                "split JSON lines into one message per file");
  }
  FromJson mapping;
  WireWriter out;
  if (!mapping.message(tree->root().element(), kProfilesDataSchema, out))
    return mapping.take_error();
  return out.take();
}

std::string protobuf_to_json(std::string_view message) {
  JsonWriter json;
  json.begin_object();
  write_fields(WireReader(message), kProfilesDataSchema, json);
  json.end_object();
  return json.take();
}

}  // namespace vesta::otlp
