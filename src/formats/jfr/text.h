// Strings of a chunk: the five encodings, turned into UTF-8. RawString refers to the chunk's bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/jfr/cursor.h"

namespace vesta::jfr {

enum class TextEncoding : uint8_t {
  kNull = 0,
  kEmpty = 1,
  kConstant = 2,  // an id in the pool of java.lang.String
  kUtf8 = 3,
  kChars = 4,  // UTF-16 units, each an integer of the chunk
  kLatin1 = 5,
};

struct RawString {
  TextEncoding encoding = TextEncoding::kNull;
  bool compressed_ints = false;
  int64_t constant = 0;
  std::string_view bytes;
};

// Reads or steps over a string; an unknown encoding or a length past the end fails the cursor.
RawString read_raw_string(Cursor& cursor);

// The text as the bytes have it: UTF-8 is not checked, lone surrogates become U+FFFD and are
// counted in `replaced`. Stops near `max_bytes`. A constant gives an empty text: look it up first.
std::string decode_text(const RawString& raw, size_t max_bytes, uint64_t& replaced);

}  // namespace vesta::jfr
