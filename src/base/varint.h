// Writing integers of variable length: LEB128, signed ones zig-zag. Pure functions.
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

inline void put_signed(std::string& out, int64_t value) {
  put_varint(out, static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
}

}  // namespace vesta
