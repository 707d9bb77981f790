// Reads the primitive values of a JFR chunk: big-endian fixed-width integers, or the compressed
// form (seven bits per byte, least significant first, a ninth byte with all eight bits). Refers to
// the bytes. Every read past the end returns 0 and sets failed(), so that callers check once per
// record instead of once per field. Not thread-safe.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace vesta::jfr {

class Cursor {
 public:
  // Covers bytes [begin, end) of the chunk. REQUIRES: begin <= end <= chunk.size()
  Cursor(std::string_view chunk, size_t begin, size_t end, bool compressed)
      : start_(reinterpret_cast<const uint8_t*>(chunk.data())),
        at_(start_ + begin),
        end_(start_ + end),
        compressed_(compressed) {}

  bool failed() const { return failed_; }
  bool compressed() const { return compressed_; }
  // From the start of the chunk.
  size_t offset() const { return static_cast<size_t>(at_ - start_); }
  size_t remaining() const { return static_cast<size_t>(end_ - at_); }

  void fail() {
    failed_ = true;
    at_ = end_;
  }

  void skip(uint64_t bytes) {
    if (bytes > remaining()) return fail();
    at_ += bytes;
  }

  std::string_view bytes(uint64_t count) {
    if (count > remaining()) {
      fail();
      return {};
    }
    const std::string_view view(reinterpret_cast<const char*>(at_), count);
    at_ += count;
    return view;
  }

  int8_t read_byte() { return static_cast<int8_t>(read_fixed<1>()); }
  int16_t read_short() { return static_cast<int16_t>(compressed_ ? varint() : read_fixed<2>()); }
  uint16_t read_char() { return static_cast<uint16_t>(compressed_ ? varint() : read_fixed<2>()); }
  int32_t read_int() { return static_cast<int32_t>(compressed_ ? varint() : read_fixed<4>()); }
  int64_t read_long() { return static_cast<int64_t>(compressed_ ? varint() : read_fixed<8>()); }

  uint64_t varint() {
    uint64_t value = 0;
    if (remaining() >= kMaxVarintBytes) {
      for (unsigned shift = 0; shift < 56; shift += 7) {
        const uint64_t byte = *at_++;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return value;
      }
      return value | uint64_t{*at_++} << 56;
    }
    for (unsigned shift = 0; shift < 56; shift += 7) {
      if (at_ == end_) break;
      const uint64_t byte = *at_++;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    if (at_ != end_) return value | uint64_t{*at_++} << 56;
    fail();
    return 0;
  }

  // Eight bytes at a time: a byte without the high bit ends an integer. Each load starts at the
  // start of an integer, so eight bytes without an end are the nine-byte form.
  void skip_varints(uint64_t count) {
    while (count >= 8 && remaining() >= kMaxVarintBytes) {
      uint64_t word = 0;
      std::memcpy(&word, at_, sizeof(word));
      const uint64_t ends = ~word & 0x8080808080808080;
      if (ends == 0) {
        at_ += kMaxVarintBytes;
        --count;
      } else {
        at_ += last_marked_byte(ends) + 1;
        // Adds up the marked bytes; cheaper than a popcount that the baseline processor lacks.
        count -= (ends >> 7) * 0x0101010101010101 >> 56;
      }
    }
    for (; count > 0 && remaining() >= kMaxVarintBytes; --count) {
      const uint8_t* const last = at_ + kMaxVarintBytes - 1;
      while (at_ < last && *at_ >= 0x80) ++at_;
      ++at_;
    }
    for (; count > 0 && !failed_; --count) varint();
  }

 private:
  static constexpr size_t kMaxVarintBytes = 9;

  // Position in memory of the last byte that has its high bit set. REQUIRES: bits != 0
  static size_t last_marked_byte(uint64_t bits) {
    if constexpr (std::endian::native == std::endian::little) {
      return static_cast<size_t>(63 - std::countl_zero(bits)) / 8;
    } else {
      return 7 - static_cast<size_t>(std::countr_zero(bits)) / 8;
    }
  }

  template <size_t kBytes>
  uint64_t read_fixed() {
    if (remaining() < kBytes) {
      fail();
      return 0;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < kBytes; ++i) value = value << 8 | at_[i];
    at_ += kBytes;
    return value;
  }

  const uint8_t* start_;
  const uint8_t* at_;
  const uint8_t* end_;
  bool compressed_;
  bool failed_ = false;
};

}  // namespace vesta::jfr
