// Attributes of OTLP: AnyValue, KeyValue and KeyValueAndUnit, and what they become in the model.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/otlp/decoding.h"
#include "profile/list_table.h"

namespace vesta::otlp {

enum class ValueKind : uint8_t { kNone, kText, kBool, kInt, kDouble, kArray, kList, kBytes };

// A decoded AnyValue; views point into the message.
struct Value {
  ValueKind kind = ValueKind::kNone;
  bool truth = false;
  int64_t number = 0;
  double real = 0;
  std::string_view text;  // kText given literally, kBytes
  StringId text_id;       // kText given as an index; 0 when literal
  WireReader items;       // kArray, kList
};

bool read_value(Decoding& decoding, WireReader message, Value& value);

// The value as one text: strings as they are, all else in JSON form, bytes in base64.
bool value_text(Decoding& decoding, const Value& value, std::string& text);
// As a label: integers stay numbers, everything else becomes text.
bool value_label(Decoding& decoding, StringId key, StringId unit, const Value& value, Label& label);

// A KeyValue, as resources and scopes have them.
struct KeyValue {
  StringId key;
  Value value;
};
bool read_key_value(Decoding& decoding, WireReader message, KeyValue& out);

// What an attribute of the dictionary says where its key is known.
enum class Meaning : uint8_t {
  kOther,
  kBuildIdGnu,
  kBuildIdGo,
  kBuildIdHtlhash,
  kFrameType,
  kIsFolded,
  kHasFunctions,
  kHasFilenames,
  kHasLineNumbers,
  kHasInlineFrames,
  kComment,
  kDocUrl,
  kDropFrames,
  kKeepFrames,
  kProfileName,
  kLoss,
};

using AttributeId = StrongId<struct AttributeTag>;

// The attribute_table of a dictionary.
class AttributeTable {
 public:
  // Appends the next entry, a KeyValueAndUnit.
  bool read_entry(Decoding& decoding, WireReader message);

  size_t size() const { return entries_.size(); }
  Meaning meaning(AttributeId id) const { return entries_[id.index()].meaning; }
  bool is_true(AttributeId id) const { return entries_[id.index()].truth; }
  // One label, or several for an array of strings and integers.
  std::span<const Label> labels(AttributeId id) const { return labels_[id]; }
  // The text of the first label; 0 where that is a number.
  StringId text(AttributeId id) const {
    return labels_[id].empty() ? StringId() : labels_[id].front().text;
  }

 private:
  struct Entry {
    Meaning meaning = Meaning::kOther;
    bool truth = false;
  };
  std::vector<Entry> entries_;
  ListTable<AttributeId, Label> labels_;
};

}  // namespace vesta::otlp
