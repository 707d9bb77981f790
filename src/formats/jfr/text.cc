#include "formats/jfr/text.h"

namespace vesta::jfr {

namespace {

void append_utf8(std::string& out, uint32_t code_point) {
  if (code_point < 0x80) {
    out.push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out.push_back(static_cast<char>(0xc0 | code_point >> 6));
    out.push_back(static_cast<char>(0x80 | (code_point & 0x3f)));
  } else if (code_point < 0x10000) {
    out.push_back(static_cast<char>(0xe0 | code_point >> 12));
    out.push_back(static_cast<char>(0x80 | (code_point >> 6 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (code_point & 0x3f)));
  } else {
    out.push_back(static_cast<char>(0xf0 | code_point >> 18));
    out.push_back(static_cast<char>(0x80 | (code_point >> 12 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (code_point >> 6 & 0x3f)));
    out.push_back(static_cast<char>(0x80 | (code_point & 0x3f)));
  }
}

bool is_high_surrogate(uint32_t unit) {
  return unit >= 0xd800 && unit < 0xdc00;
}
bool is_low_surrogate(uint32_t unit) {
  return unit >= 0xdc00 && unit < 0xe000;
}

std::string decode_chars(const RawString& raw, size_t max_bytes, uint64_t& replaced) {
  std::string out;
  Cursor cursor(raw.bytes, 0, raw.bytes.size(), raw.compressed_ints);
  uint32_t high = 0;
  const auto end_high = [&] {
    if (high == 0) return;
    append_utf8(out, 0xfffd);
    ++replaced;
    high = 0;
  };
  while (cursor.remaining() > 0 && out.size() <= max_bytes) {
    const uint32_t unit = cursor.read_char();
    if (is_low_surrogate(unit) && high != 0) {
      append_utf8(out, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
      high = 0;
      continue;
    }
    end_high();
    if (is_high_surrogate(unit)) {
      high = unit;
    } else if (is_low_surrogate(unit)) {
      append_utf8(out, 0xfffd);
      ++replaced;
    } else {
      append_utf8(out, unit);
    }
  }
  end_high();
  return out;
}

}  // namespace

RawString read_raw_string(Cursor& cursor) {
  RawString raw;
  raw.compressed_ints = cursor.compressed();
  raw.encoding = static_cast<TextEncoding>(cursor.read_byte());
  switch (raw.encoding) {
    case TextEncoding::kNull:
    case TextEncoding::kEmpty:
      return raw;
    case TextEncoding::kConstant:
      raw.constant = cursor.read_long();
      return raw;
    case TextEncoding::kUtf8:
    case TextEncoding::kLatin1: {
      const int32_t length = cursor.read_int();
      if (length < 0) break;
      raw.bytes = cursor.bytes(static_cast<uint64_t>(length));
      return raw;
    }
    case TextEncoding::kChars: {
      const int32_t length = cursor.read_int();
      if (length < 0) break;
      Cursor from = cursor;
      if (cursor.compressed()) {
        cursor.skip_varints(static_cast<uint64_t>(length));
      } else {
        cursor.skip(uint64_t{2} * static_cast<uint64_t>(length));
      }
      if (!cursor.failed()) raw.bytes = from.bytes(cursor.offset() - from.offset());
      return raw;
    }
  }
  cursor.fail();
  return raw;
}

std::string decode_text(const RawString& raw, size_t max_bytes, uint64_t& replaced) {
  switch (raw.encoding) {
    case TextEncoding::kUtf8:
      // Some more than asked for, so that the caller sees that the text is too long.
      return std::string(raw.bytes.substr(0, max_bytes + 4));
    case TextEncoding::kLatin1: {
      std::string out;
      for (const char c : raw.bytes) {
        append_utf8(out, static_cast<uint8_t>(c));
        if (out.size() > max_bytes) break;
      }
      return out;
    }
    case TextEncoding::kChars:
      return decode_chars(raw, max_bytes, replaced);
    case TextEncoding::kNull:
    case TextEncoding::kEmpty:
    case TextEncoding::kConstant:
      break;
  }
  return {};
}

}  // namespace vesta::jfr
