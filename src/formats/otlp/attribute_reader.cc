#include "formats/otlp/attribute_reader.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

#include "base/json_writer.h"
#include "formats/otlp/base64.h"
#include "formats/otlp/conventions.h"

namespace vesta::otlp {
namespace {

struct KnownKey {
  std::string_view key;
  Meaning meaning;
};

constexpr std::array<KnownKey, 14> kKnownKeys = {{
    {key::kBuildIdGnu, Meaning::kBuildIdGnu},
    {key::kBuildIdGo, Meaning::kBuildIdGo},
    {key::kBuildIdHtlhash, Meaning::kBuildIdHtlhash},
    {key::kFrameType, Meaning::kFrameType},
    {key::kIsFolded, Meaning::kIsFolded},
    {key::kHasFunctions, Meaning::kHasFunctions},
    {key::kHasFilenames, Meaning::kHasFilenames},
    {key::kHasLineNumbers, Meaning::kHasLineNumbers},
    {key::kHasInlineFrames, Meaning::kHasInlineFrames},
    {key::kComment, Meaning::kComment},
    {key::kDocUrl, Meaning::kDocUrl},
    {key::kDropFrames, Meaning::kDropFrames},
    {key::kKeepFrames, Meaning::kKeepFrames},
    {key::kProfileName, Meaning::kProfileName},
}};

Meaning meaning_of(std::string_view key) {
  for (const KnownKey& known : kKnownKeys) {
    if (known.key == key) return known.meaning;
  }
  return key.starts_with(key::kLossPrefix) ? Meaning::kLoss : Meaning::kOther;
}

std::string double_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);
}

std::string_view text_of(Decoding& decoding, const Value& value) {
  return value.text_id ? decoding.dictionary().string(value.text_id) : value.text;
}

bool write_json(Decoding& decoding, const Value& value, int depth, JsonWriter& json);

bool write_items(Decoding& decoding, const Value& value, int depth, JsonWriter& json) {
  WireReader items = value.items;
  if (depth >= kMaxValueDepth) {
    return decoding.fail(items.offset(), "",
                         fmt::format("values nest deeper than {} levels", kMaxValueDepth));
  }
  const bool is_list = value.kind == ValueKind::kList;
  is_list ? json.begin_object() : json.begin_array();
  while (items.next()) {
    if (items.field() != 1) {
      items.skip();
      continue;
    }
    WireReader item;
    if (!decoding.message(items, "values", item)) return false;
    KeyValue pair;
    if (is_list) {
      if (!read_key_value(decoding, item, pair)) return false;
      json.key(decoding.dictionary().string(pair.key));
    } else if (!read_value(decoding, item, pair.value)) {
      return false;
    }
    if (!write_json(decoding, pair.value, depth + 1, json)) return false;
  }
  is_list ? json.end_object() : json.end_array();
  return decoding.well_formed(items);
}

bool write_json(Decoding& decoding, const Value& value, int depth, JsonWriter& json) {
  switch (value.kind) {
    case ValueKind::kNone:
      json.null();
      break;
    case ValueKind::kText:
      json.string(text_of(decoding, value));
      break;
    case ValueKind::kBool:
      json.boolean(value.truth);
      break;
    case ValueKind::kInt:
      json.number(value.number);
      break;
    case ValueKind::kDouble:
      std::isfinite(value.real) ? json.number(value.real) : json.string(double_text(value.real));
      break;
    case ValueKind::kBytes:
      json.string(to_base64(value.text));
      break;
    case ValueKind::kArray:
    case ValueKind::kList:
      return write_items(decoding, value, depth, json);
  }
  return true;
}

// Whether the array holds nothing but strings and integers, at least `at_least` of them; they are
// appended to `labels`.
bool expand_array(Decoding& decoding, const Label& like, const Value& value, size_t at_least,
                  std::vector<Label>& labels) {
  WireReader items = value.items;
  while (items.next()) {
    if (!items.is(1, WireType::kBytes)) return false;
    Value item;
    if (!read_value(decoding, items.message(), item)) return false;
    Label label = like;
    if (item.kind == ValueKind::kInt) {
      label.kind = LabelKind::kNumber;
      label.number = item.number;
    } else if (item.kind == ValueKind::kText) {
      label.unit = StringId();
      label.text = item.text_id ? item.text_id : decoding.intern(item.text);
    } else {
      return false;
    }
    labels.push_back(label);
  }
  return items.ok() && labels.size() >= at_least;
}

}  // namespace

bool read_value(Decoding& decoding, WireReader message, Value& value) {
  while (message.next()) {
    uint64_t raw = 0;
    switch (message.field()) {
      case 1:
        value = {};
        value.kind = ValueKind::kText;
        if (!decoding.bytes(message, "string_value", value.text)) return false;
        break;
      case 2:
        value = {};
        value.kind = ValueKind::kBool;
        if (!decoding.boolean(message, "bool_value", value.truth)) return false;
        break;
      case 3:
        value = {};
        value.kind = ValueKind::kInt;
        if (!decoding.varint(message, "int_value", raw)) return false;
        value.number = static_cast<int64_t>(raw);
        break;
      case 4:
        value = {};
        value.kind = ValueKind::kDouble;
        if (!decoding.fixed64(message, "double_value", raw)) return false;
        value.real = std::bit_cast<double>(raw);
        break;
      case 5:
      case 6:
        value = {};
        value.kind = message.field() == 5 ? ValueKind::kArray : ValueKind::kList;
        if (!decoding.message(message, message.field() == 5 ? "array_value" : "kvlist_value",
                              value.items))
          return false;
        break;
      case 7:
        value = {};
        value.kind = ValueKind::kBytes;
        if (!decoding.bytes(message, "bytes_value", value.text)) return false;
        break;
      case 8:
        value = {};
        value.kind = ValueKind::kText;
        if (!decoding.string_index(message, "string_value_strindex", value.text_id)) return false;
        break;
      default:
        message.skip();
    }
  }
  return decoding.well_formed(message);
}

bool value_text(Decoding& decoding, const Value& value, std::string& text) {
  switch (value.kind) {
    case ValueKind::kNone:
      text.clear();
      return true;
    case ValueKind::kText:
      text = text_of(decoding, value);
      return true;
    case ValueKind::kDouble:
      text = double_text(value.real);
      return true;
    case ValueKind::kBytes:
      text = to_base64(value.text);
      return true;
    default:
      JsonWriter json;
      if (!write_json(decoding, value, 0, json)) return false;
      text = json.take();
      return true;
  }
}

bool value_label(Decoding& decoding, StringId key, StringId unit, const Value& value,
                 Label& label) {
  label = {};
  label.key = key;
  if (value.kind == ValueKind::kInt) {
    label.kind = LabelKind::kNumber;
    label.number = value.number;
    label.unit = unit;
    return true;
  }
  if (unit) ++decoding.dropped_units;
  if (value.kind == ValueKind::kText) {
    label.text = value.text_id ? value.text_id : decoding.intern(value.text);
    return true;
  }
  std::string text;
  if (!value_text(decoding, value, text)) return false;
  label.text = decoding.intern(text);
  return true;
}

bool read_key_value(Decoding& decoding, WireReader message, KeyValue& out) {
  while (message.next()) {
    std::string_view key;
    WireReader value;
    switch (message.field()) {
      case 1:
        if (!decoding.bytes(message, "key", key)) return false;
        if (!key.empty()) out.key = decoding.intern(key);
        break;
      case 2:
        if (!decoding.message(message, "value", value) || !read_value(decoding, value, out.value))
          return false;
        break;
      case 3: {
        StringId id;
        if (!decoding.string_index(message, "key_strindex", id)) return false;
        if (id) out.key = id;
        break;
      }
      default:
        message.skip();
    }
  }
  return decoding.well_formed(message);
}

bool AttributeTable::read_entry(Decoding& decoding, WireReader message) {
  StringId key;
  StringId unit;
  Value value;
  while (message.next()) {
    WireReader inner;
    switch (message.field()) {
      case 1:
        if (!decoding.string_index(message, "key_strindex", key)) return false;
        break;
      case 2:
        if (!decoding.message(message, "value", inner) || !read_value(decoding, inner, value))
          return false;
        break;
      case 3:
        if (!decoding.string_index(message, "unit_strindex", unit)) return false;
        break;
      default:
        message.skip();
    }
  }
  if (!decoding.well_formed(message)) return false;
  if (entries_.empty()) {
    // ListTable has its empty entry already.
    decoding.has_zero_entry = key || unit || value.kind != ValueKind::kNone;
    entries_.emplace_back();
    return true;
  }
  if (!key && value.kind != ValueKind::kNone) key = StringId(decoding.zero.strings);
  Entry entry;
  entry.meaning = meaning_of(decoding.dictionary().string(key));
  entry.truth = value.truth;
  entries_.push_back(entry);

  std::vector<Label> labels;
  if (value.kind == ValueKind::kArray) {
    Label like;
    like.key = key;
    like.unit = unit;
    // An array of one stays what it is, except for comments, which are arrays by convention.
    if (!expand_array(decoding, like, value, entry.meaning == Meaning::kComment ? 1 : 2, labels))
      labels.clear();
  }
  if (labels.empty()) {
    Label label;
    if (!value_label(decoding, key, unit, value, label)) return false;
    labels.push_back(label);
  }
  labels_.add(labels);
  return true;
}

}  // namespace vesta::otlp
