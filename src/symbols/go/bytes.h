// Reading little-endian integers where the bytes may end too early. Pure functions.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace vesta::go {

template <std::integral T>
std::optional<T> read(std::string_view bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

}  // namespace vesta::go
