// Streaming JSON output: commas, quoting and UTF-8 repair in one place, so that a function name can
// never break a document or a page it is embedded in. Appends to a string it owns; not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vesta {

class JsonWriter {
 public:
  // `indent` spaces per level, or 0 for one line.
  explicit JsonWriter(int indent = 0) : indent_(indent) {}

  JsonWriter& begin_object();
  JsonWriter& end_object();
  JsonWriter& begin_array();
  JsonWriter& end_array();
  JsonWriter& key(std::string_view name);
  JsonWriter& string(std::string_view value);
  JsonWriter& number(int64_t value);
  JsonWriter& number(uint64_t value);
  // Not-a-number and infinities, which JSON lacks, become null.
  JsonWriter& number(double value);
  JsonWriter& boolean(bool value);
  JsonWriter& null();

  JsonWriter& field(std::string_view name, std::string_view value) {
    return key(name).string(value);
  }
  JsonWriter& field(std::string_view name, const char* value) { return key(name).string(value); }
  JsonWriter& field(std::string_view name, int64_t value) { return key(name).number(value); }
  JsonWriter& field(std::string_view name, uint64_t value) { return key(name).number(value); }
  JsonWriter& field(std::string_view name, double value) { return key(name).number(value); }
  JsonWriter& field(std::string_view name, bool value) { return key(name).boolean(value); }

  std::string take() { return std::move(out_); }

 private:
  void before_value();
  void new_line();

  std::string out_;
  int indent_;
  std::vector<bool> has_items_;  // one per open object or array
  bool after_key_ = false;
};

// `text` as a JSON string with quotes. `<`, `>`, `&`, U+2028 and U+2029 are escaped too, so that
// the result may stand inside a <script> element. Invalid UTF-8 becomes U+FFFD.
std::string json_quote(std::string_view text);

}  // namespace vesta
