// Integers of variable length: LEB128, signed ones zig-zag, and texts with their length before them. The reader is
// bounds-checked and stops for good at the first fault; it views the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vesta {

inline void put_varint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

inline uint64_t zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t unzigzag(uint64_t value) {
  return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
}
inline void put_signed(std::string& out, int64_t value) {
  put_varint(out, zigzag(value));
}

// The longest of 64 bits.
inline constexpr size_t kMaxVarintBytes = 10;
// The same where there is room for it; the end of what was written.
inline char* write_varint(char* to, uint64_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}
inline void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out += text;
}

class VarintReader {
 public:
  VarintReader() = default;
  explicit VarintReader(std::string_view bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }

  uint64_t varint() {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) return static_cast<uint8_t>(*at_++);
    return long_varint();
  }
  int64_t signed_varint() { return unzigzag(varint()); }
  uint32_t varint32() {
    const uint64_t value = varint();
    return value <= UINT32_MAX ? static_cast<uint32_t>(value) : (fail(), 0);
  }
  std::string_view bytes(uint64_t count) {
    if (count > remaining()) return fail(), std::string_view();
    const std::string_view out(at_, count);
    at_ += count;
    return out;
  }
  std::string_view text() { return bytes(varint()); }
  uint8_t byte() {
    if (at_ == end_) return fail(), uint8_t{0};
    return static_cast<uint8_t>(*at_++);
  }
  void fail() {
    ok_ = false;
    at_ = end_;
  }

 private:
  uint64_t long_varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto part = static_cast<uint8_t>(*at_++);
      if (shift == 63 && part > 1) break;
      value |= uint64_t{part & 0x7fU} << shift;
      if (part < 0x80) return value;
    }
    return fail(), 0;
  }

  const char* at_ = nullptr;
  const char* end_ = nullptr;
  bool ok_ = true;
};

}  // namespace vesta
