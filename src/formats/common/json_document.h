// A large JSON text being read front to back with simdjson, with what such a reader needs around
// it: padding, repair of invalid UTF-8, numbers that keep 64-bit integers exact. Owns a copy of the
// text. Not thread-safe. What is small is read as a tree: base/json_reader.h.
//
// Strings may be read once per pass: simdjson unescapes them into a buffer as large as the text.
// Compare keys and short words raw instead (`key() == "name"`).
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/utf8.h"
#include "formats/common/parse_error.h"

namespace vesta {

namespace ondemand = simdjson::ondemand;

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// A cheap first look.
inline bool starts_like_json_object(std::string_view bytes) {
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  const size_t start = bytes.find_first_not_of(" \t\r\n");
  return start != std::string_view::npos && bytes[start] == '{';
}

struct JsonNumber {
  bool is_integer = true;
  int64_t integer = 0;
  double real = 0;  // also set for integers
};

class JsonDocument {
 public:
  // Finds the structure of the text; most syntax errors show only when the part is read.
  Status open(std::string_view format, std::string_view bytes) {
    if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
    if (is_valid_utf8(bytes)) {
      text_ = simdjson::padded_string(bytes);
    } else {
      const std::string valid = replace_invalid_utf8(bytes);
      repairs_ = count_replacements(valid) - count_replacements(bytes);
      text_ = simdjson::padded_string(valid);
    }
    if (const auto error = parser_.iterate(text_).get(document_)) {
      return parse_error(format, 0, std::string("not JSON: ") + simdjson::error_message(error),
                         "the file may be cut off, or of another format");
    }
    return {};
  }

  // The top-level object, from its start each time.
  bool root(ondemand::object& object) {
    document_.rewind();
    return document_.get_object().get(object) == simdjson::SUCCESS;
  }

  // How many invalid UTF-8 sequences were replaced.
  uint64_t repairs() const { return repairs_; }

 private:
  static uint64_t count_replacements(std::string_view text) {
    uint64_t count = 0;
    for (size_t at = 0; (at = text.find("\xEF\xBF\xBD", at)) != std::string_view::npos; at += 3)
      ++count;
    return count;
  }

  simdjson::padded_string text_;
  ondemand::parser parser_;
  ondemand::document document_;
  uint64_t repairs_ = 0;
};

// Empty for a value that is no number, or none that 64 bits can hold.
inline std::optional<JsonNumber> json_number(ondemand::value value) {
  ondemand::number number;
  if (value.get_number().get(number)) return std::nullopt;
  switch (number.get_number_type()) {
    case ondemand::number_type::signed_integer:
      return JsonNumber{true, number.get_int64(), static_cast<double>(number.get_int64())};
    case ondemand::number_type::unsigned_integer:  // beyond what int64_t can hold
      return std::nullopt;
    case ondemand::number_type::floating_point_number:
      return JsonNumber{false, 0, number.get_double()};
  }
  return std::nullopt;
}

// The same for integers, also those written as 12.0.
inline std::optional<int64_t> json_integer(ondemand::value value) {
  const auto number = json_number(value);
  if (!number) return std::nullopt;
  if (number->is_integer) return number->integer;
  constexpr double kLimit = 9.0e15;  // below 2^53, where doubles still are exact integers
  if (!(number->real > -kLimit && number->real < kLimit)) return std::nullopt;
  const auto integer = static_cast<int64_t>(number->real);
  if (static_cast<double>(integer) != number->real) return std::nullopt;
  return integer;
}

}  // namespace vesta
