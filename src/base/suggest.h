// "Did you mean …?" for commands, flags and names that people type. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace vesta {

// Insertions, deletions, substitutions and swaps of neighbours that turn one word into the other.
size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of the choices, or empty when none is near enough to be worth offering.
std::string nearest(std::string_view word, std::span<const std::string> choices);

}  // namespace vesta
