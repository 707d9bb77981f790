// Integers of variable length: LEB128, signed ones zig-zag. Pure functions.
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace vesta
