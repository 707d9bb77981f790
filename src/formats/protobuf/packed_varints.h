// The inside of packed integer fields, many varints at a time. The ends of up to 64 bytes' worth of
// varints are found at once, so that no varint waits for the length of the one before it and their
// mixed lengths cost no mispredicted branches. Header-only, pure functions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace vesta {

// Bit i is set when byte i of the 64 at `at` ends a varint.
inline uint64_t varint_ends(const char* at) {
#if defined(__SSE2__)
  const auto continued = [at](unsigned i) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * i));
    return uint64_t{static_cast<uint32_t>(_mm_movemask_epi8(part))} << (16 * i);
  };
  return ~(continued(0) | continued(1) | continued(2) | continued(3));
#else
  uint64_t continued = 0;
  for (unsigned i = 0; i < 8; ++i) {
    uint64_t part = 0;
    std::memcpy(&part, at + 8 * i, 8);
    // The product gathers the top bits of the eight bytes in its top byte.
    continued |= (((part & 0x8080808080808080ull) >> 7) * 0x0102040810204080ull >> 56) << (8 * i);
  }
  return ~continued;
#endif
}

// How a run of small packed varints went.
struct SmallVarints {
  size_t count = 0;
  uint32_t largest_minus_one = 0;  // with 0 counting as the largest of all: ids start at 1
  bool ok = false;  // false: a varint is longer than four bytes or cut off; `out` is undefined
};

// The payload bits of a varint of one to four bytes.
inline constexpr uint32_t kVarintPayload[4] = {0x0000007F, 0x00007F7F, 0x007F7F7F, 0x7F7F7F7F};

// Decodes the packed varints in [at, end) into `out`, all below 2^28, as ids and indices are.
// REQUIRES: `out` has room for end - at values; bytes up to `readable_end` >= end may be read.
template <class Out>
SmallVarints decode_small_varints(const char* at, const char* end, const char* readable_end,
                                  Out* out) {
  static_assert(std::endian::native == std::endian::little);
  Out* const first_out = out;
  uint32_t largest = 0;
  uint32_t lengths = 0;  // all lengths minus one, or-ed: above 3 when any is too long
  const auto put = [&](uint32_t raw, uint32_t length_minus_one) {
    lengths |= length_minus_one;
    raw &= kVarintPayload[length_minus_one & 3];
    raw = (raw & 0x007F007F) | (raw & 0x7F007F00) >> 1;
    raw = (raw & 0x00003FFF) | (raw & 0x3FFF0000) >> 2;
    *out++ = Out(raw);
    largest = raw - 1 > largest ? raw - 1 : largest;
  };
  // The last varint of a block is loaded as four bytes, hence the 3 extra.
  while (at < end && readable_end - at >= 64 + 3) {
    uint64_t ends = varint_ends(at);
    if (end - at < 64) ends &= (uint64_t{1} << (end - at)) - 1;
    if (ends == 0) return {};
    uint32_t begin = 0;
    do {
      const uint32_t last = static_cast<uint32_t>(std::countr_zero(ends));
      ends &= ends - 1;
      uint32_t raw = 0;
      std::memcpy(&raw, at + begin, 4);
      put(raw, last - begin);
      begin = last + 1;
    } while (ends != 0);
    at += begin;
  }
  while (at < end) {
    uint32_t raw = 0;
    uint32_t length = 0;
    do {
      if (at == end || length == 4) return {};
      raw |= uint32_t{static_cast<uint8_t>(*at)} << (8 * length++);
    } while (static_cast<uint8_t>(*at++) >= 0x80);
    put(raw, length - 1);
  }
  if (lengths > 3) return {};
  return {static_cast<size_t>(out - first_out), largest, true};
}

// Decodes one varint of any length at `at` and returns where it ends; null when it does not end
// before `end` or after ten bytes. REQUIRES: at < end <= readable_end, all of which may be read.
inline const char* read_packed_varint(const char* at, const char* end, const char* readable_end,
                                      uint64_t& value) {
  if (static_cast<uint8_t>(*at) < 0x80) {
    value = static_cast<uint8_t>(*at);
    return at + 1;
  }
  if (readable_end - at >= 8) {
    uint64_t raw = 0;
    std::memcpy(&raw, at, 8);
    const uint64_t stops = ~raw & 0x8080808080808080ull;
    if (stops != 0) {
      raw &= (stops ^ (stops - 1)) & 0x7F7F7F7F7F7F7F7Full;
      raw = (raw & 0x007F007F007F007Full) | (raw & 0x7F007F007F007F00ull) >> 1;
      raw = (raw & 0x00003FFF00003FFFull) | (raw & 0x3FFF00003FFF0000ull) >> 2;
      raw = (raw & 0x000000000FFFFFFFull) | (raw & 0x0FFFFFFF00000000ull) >> 4;
      value = raw;
      at += std::countr_zero(stops) / 8 + 1;
      return at <= end ? at : nullptr;
    }
  }
  uint64_t result = 0;
  for (unsigned shift = 0; shift < 70 && at < end; shift += 7) {
    const uint8_t byte = static_cast<uint8_t>(*at++);
    if (shift < 64) result |= uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) {
      value = result;
      return at;
    }
  }
  return nullptr;
}

}  // namespace vesta
