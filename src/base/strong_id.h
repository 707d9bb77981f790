// Index types that do not mix: a StackId is no LocationId, and neither is a plain integer.
// Trivially copyable values. Id 0 of every table is its empty entry, so a default id means "none".
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace vesta {

template <class Tag>
struct StrongId {
  uint32_t value = 0;

  constexpr StrongId() = default;
  constexpr explicit StrongId(size_t index) : value(static_cast<uint32_t>(index)) {}

  constexpr size_t index() const { return value; }
  constexpr explicit operator bool() const { return value != 0; }
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
};

}  // namespace vesta

template <class Tag>
struct std::hash<vesta::StrongId<Tag>> {
  size_t operator()(vesta::StrongId<Tag> id) const noexcept { return id.value; }
};
