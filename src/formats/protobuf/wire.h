// The protobuf wire format, for hot decoding with exact error positions and for writing. A
// WireReader is a cursor over bytes that it does not own; once something is malformed, it stops and
// remembers where. Header-only, because the inner loops live here.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace vesta {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

class WireReader {
 public:
  WireReader() = default;
  // `origin` is where the outermost message starts, so that offset() counts from there.
  WireReader(std::string_view bytes, const char* origin)
      : at_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        origin_(origin),
        field_start_(bytes.data()) {}
  explicit WireReader(std::string_view bytes) : WireReader(bytes, bytes.data()) {}

  // Advances to the next field; false at the end of the message or on malformed input: ask ok().
  bool next() {
    if (at_ >= end_) return false;
    field_start_ = at_;
    const uint64_t tag = read_varint();
    if (!ok_) return false;
    field_ = static_cast<uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    if (field_ == 0 || tag > UINT32_MAX) return fail("invalid field number");
    return true;
  }

  uint32_t field() const { return field_; }
  WireType type() const { return type_; }
  bool is(uint32_t field, WireType type) const { return field_ == field && type_ == type; }

  bool ok() const { return ok_; }
  const char* problem() const { return problem_; }
  // Where the current field starts (before next(): the message), or where input is malformed, from
  // the start of the outermost message.
  size_t offset() const { return static_cast<size_t>(field_start_ - origin_); }
  bool at_end() const { return at_ >= end_; }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }
  const char* origin() const { return origin_; }

  // The value of the current field. REQUIRES: next() gave the matching type.
  uint64_t varint() { return read_varint(); }
  int64_t int64() { return static_cast<int64_t>(read_varint()); }
  uint64_t fixed64() {
    if (remaining() < 8) return fail("fixed64 is cut off"), 0;
    uint64_t value = 0;
    std::memcpy(&value, at_, 8);
    at_ += 8;
    return value;
  }
  std::string_view bytes() {
    const uint64_t length = read_varint();
    if (!ok_) return {};
    if (length > remaining()) return fail("length runs past the end"), std::string_view();
    const std::string_view out(at_, static_cast<size_t>(length));
    at_ += length;
    return out;
  }
  WireReader message() { return WireReader(bytes(), origin_); }

  // The values of the current field and of all that follow it directly with the same tag, as the
  // entries of tables do: calls each(offset, value) for them, and steps over them. The last one is
  // the current field then. REQUIRES: next() gave kBytes.
  template <class Each>
  void bytes_run(Each&& each) {
    const char* at = field_start_;
    const char tag = *at;
    if (static_cast<uint8_t>(tag) >= 0x80 || at_ != at + 1) {  // rare: a long tag, one at a time
      const std::string_view value = bytes();
      if (ok_) each(offset(), value);
      return;
    }
    do {
      field_start_ = at;
      at_ = at + 1;
      uint64_t length = at_ < end_ ? static_cast<uint8_t>(*at_++) : 0x80;
      if (length >= 0x80) {
        at_ = at + 1;
        length = read_varint();
        if (!ok_) return;
      }
      if (length > remaining()) {
        fail("length runs past the end");
        return;
      }
      const std::string_view value(at_, static_cast<size_t>(length));
      at = at_ += length;
      each(offset(), value);
    } while (at < end_ && *at == tag);
  }

  // Steps over the value of the current field, whatever it is.
  void skip() {
    switch (type_) {
      case WireType::kVarint:
        read_varint();
        break;
      case WireType::kFixed64:
        fixed64();
        break;
      case WireType::kBytes:
        bytes();
        break;
      case WireType::kFixed32:
        if (remaining() < 4) {
          fail("fixed32 is cut off");
        } else {
          at_ += 4;
        }
        break;
      default:
        fail("unknown wire type (groups are not part of the format)");
    }
  }

  // One varint at the cursor, for the insides of packed fields.
  uint64_t read_varint() {
    if (at_ < end_ && static_cast<uint8_t>(*at_) < 0x80) return static_cast<uint8_t>(*at_++);
    return read_long_varint();
  }

 private:
  uint64_t read_long_varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (at_ >= end_) return fail("varint is cut off"), 0;
      const uint8_t byte = static_cast<uint8_t>(*at_++);
      if (shift < 64) value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return fail("varint is longer than ten bytes"), 0;
  }

  bool fail(const char* problem) {
    if (ok_) {
      ok_ = false;
      problem_ = problem;
    }
    at_ = end_;
    return false;
  }

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  const char* origin_ = nullptr;
  const char* field_start_ = nullptr;
  const char* problem_ = "";
  uint32_t field_ = 0;
  WireType type_ = WireType::kVarint;
  bool ok_ = true;
};

// Appends fields to a string that it owns. Fields with default values are left out, as proto3
// writers do.
class WireWriter {
 public:
  void uint64(uint32_t field, uint64_t value) {
    if (value != 0) always_uint64(field, value);
  }
  void int64(uint32_t field, int64_t value) { uint64(field, static_cast<uint64_t>(value)); }
  void boolean(uint32_t field, bool value) { uint64(field, value ? 1 : 0); }
  void always_uint64(uint32_t field, uint64_t value) {
    tag(field, WireType::kVarint);
    varint(value);
  }
  void fixed64(uint32_t field, uint64_t value) {
    if (value != 0) always_fixed64(field, value);
  }
  void always_fixed64(uint32_t field, uint64_t value) {
    tag(field, WireType::kFixed64);
    append_fixed64(value);
  }
  void bytes(uint32_t field, std::string_view value) {
    if (!value.empty()) always_bytes(field, value);
  }
  void always_bytes(uint32_t field, std::string_view value) {
    tag(field, WireType::kBytes);
    varint(value.size());
    out_.append(value);
  }
  // The message is written even when it is empty: its presence carries meaning in repeated fields.
  void message(uint32_t field, const WireWriter& value) { always_bytes(field, value.out_); }

  // Packed integers; nothing for an empty range.
  template <class Range, class ToInteger = std::identity>
  void packed(uint32_t field, const Range& range, ToInteger&& to_integer = {}) {
    if (std::empty(range)) return;
    size_t length = 0;
    for (const auto& item : range) length += varint_size(static_cast<uint64_t>(to_integer(item)));
    tag(field, WireType::kBytes);
    varint(length);
    for (const auto& item : range) varint(static_cast<uint64_t>(to_integer(item)));
  }
  template <class Range>
  void packed_fixed64(uint32_t field, const Range& range) {
    if (std::empty(range)) return;
    tag(field, WireType::kBytes);
    varint(std::size(range) * 8);
    for (const auto& item : range) append_fixed64(static_cast<uint64_t>(item));
  }

  // A bare varint, for the insides of packed fields.
  void raw_varint(uint64_t value) { varint(value); }
  // The fields of another message, into this one.
  void append(const WireWriter& other) { out_.append(other.out_); }

  void clear() { out_.clear(); }
  const std::string& view() const { return out_; }
  std::string take() { return std::move(out_); }

  static size_t varint_size(uint64_t value) {
    return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
  }

 private:
  void tag(uint32_t field, WireType type) {
    varint(static_cast<uint64_t>(field) << 3 | static_cast<uint64_t>(type));
  }
  void varint(uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<char>(value));
  }
  void append_fixed64(uint64_t value) {
    char raw[8];
    std::memcpy(raw, &value, 8);
    out_.append(raw, 8);
  }

  std::string out_;
};

}  // namespace vesta
