// A reader over bytes that nobody vouches for: past the end every read gives 0 and `ok()` turns
// false for good, so that callers check once. Views the bytes; not shared between threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace vesta {

class ByteCursor {
 public:
  // An offset past the end is a failure at once.
  explicit ByteCursor(std::string_view bytes, uint64_t offset = 0)
      : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {
    skip(offset);
  }

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }

  uint8_t u8() {
    if (at_ == end_) return fail();
    return static_cast<uint8_t>(*at_++);
  }
  uint16_t u16() { return fixed<uint16_t>(); }
  uint32_t u32() { return fixed<uint32_t>(); }
  uint64_t u64() { return fixed<uint64_t>(); }

  // An integer of 1 to 8 bytes.
  uint64_t unsigned_of(uint32_t size) {
    uint64_t value = 0;
    if (size == 0 || size > sizeof(value) || remaining() < size) return fail();
    std::memcpy(&value, at_, size);
    at_ += size;
    return value;
  }

  // LEB128. Bits above the 64th are dropped, as compilers may pad; more than 10 bytes are not.
  uint64_t uleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const uint8_t byte = u8();
      if (shift < 64) value |= uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fail();
  }
  int64_t sleb() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const uint8_t byte = u8();
      if (shift < 64) value |= uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) != 0) continue;
      const unsigned used = shift + 7;
      if (used < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << used;
      return static_cast<int64_t>(value);
    }
    return fail();
  }

  std::string_view bytes(uint64_t count) {
    if (count > remaining()) {
      fail();
      return {};
    }
    const std::string_view out(at_, count);
    at_ += count;
    return out;
  }
  void skip(uint64_t count) { bytes(count); }

  // Up to the next zero byte, which is passed over.
  std::string_view c_string() {
    const void* zero = at_ == end_ ? nullptr : std::memchr(at_, 0, remaining());
    if (zero == nullptr) {
      fail();
      return {};
    }
    const std::string_view out(at_, static_cast<size_t>(static_cast<const char*>(zero) - at_));
    at_ += out.size() + 1;
    return out;
  }

 private:
  template <class T>
  T fixed() {
    if (remaining() < sizeof(T)) return static_cast<T>(fail());
    T value;
    std::memcpy(&value, at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  uint8_t fail() {
    ok_ = false;
    at_ = end_;
    return 0;
  }

  const char* begin_;
  const char* at_;
  const char* end_;
  bool ok_ = true;
};

}  // namespace vesta
