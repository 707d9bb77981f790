// Reads DWARF's primitive values from untrusted bytes: never past the end, and after the first
// failure everything reads as zero, so that a caller may check once at the end of a group. A view;
// the bytes must outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace vesta {

class DwarfCursor {
 public:
  explicit DwarfCursor(std::string_view bytes, uint64_t offset = 0)
      : bytes_(bytes), offset_(offset), ok_(offset <= bytes.size()) {
    if (!ok_) offset_ = bytes.size();
  }

  bool ok() const { return ok_; }
  uint64_t offset() const { return offset_; }
  bool at_end() const { return offset_ >= bytes_.size(); }
  uint64_t remaining() const { return bytes_.size() - offset_; }

  uint8_t u8() { return fixed<uint8_t>(); }
  uint16_t u16() { return fixed<uint16_t>(); }
  uint32_t u32() { return fixed<uint32_t>(); }
  uint64_t u64() { return fixed<uint64_t>(); }

  // An integer of 1 to 8 bytes.
  uint64_t unsigned_of(uint32_t size) {
    if (size == 8) return u64();
    if (size == 4) return u32();
    uint64_t value = 0;
    if (size > 8 || remaining() < size) return fail();
    std::memcpy(&value, bytes_.data() + offset_, size);
    offset_ += size;
    return value;
  }

  uint64_t uleb() {
    uint64_t value = 0;
    for (uint32_t shift = 0; offset_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes_[offset_++]);
      if (shift < 64) value |= uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return fail();
  }

  int64_t sleb() {
    uint64_t value = 0;
    uint32_t shift = 0;
    while (offset_ < bytes_.size()) {
      const auto byte = static_cast<uint8_t>(bytes_[offset_++]);
      if (shift < 64) value |= uint64_t{byte & 0x7FU} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~0ULL << shift;
      return static_cast<int64_t>(value);
    }
    return static_cast<int64_t>(fail());
  }

  std::string_view c_string() {
    const size_t end = bytes_.find('\0', offset_);
    if (end == std::string_view::npos) return fail(), std::string_view();
    const std::string_view text = bytes_.substr(offset_, end - offset_);
    offset_ = end + 1;
    return text;
  }

  std::string_view block(uint64_t size) {
    if (remaining() < size) return fail(), std::string_view();
    const std::string_view out = bytes_.substr(offset_, size);
    offset_ += size;
    return out;
  }

  void skip(uint64_t size) {
    if (remaining() < size) {
      fail();
    } else {
      offset_ += size;
    }
  }

 private:
  template <class T>
  T fixed() {
    T value{};
    if (remaining() < sizeof(T)) return static_cast<T>(fail());
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

  uint64_t fail() {
    ok_ = false;
    offset_ = bytes_.size();
    return 0;
  }

  std::string_view bytes_;
  uint64_t offset_;
  bool ok_;
};

}  // namespace vesta
