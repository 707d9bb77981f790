// Stacks of Go programs that the runtime cut: its heap profiles end after 32 frames (128 since Go
// 1.23), its CPU profiles after 64. Callers of such a stack are often seen in another one of the
// profile, and are taken from there. A guess, and marked as one.
#pragma once

#include <cstdint>
#include <string_view>

#include "profile/dictionary_builder.h"
#include "profile/profile.h"

namespace vesta {

// Of the samples whose callers were guessed; it stays with them.
inline constexpr std::string_view kRepairedLabel = "stack.repaired";
inline constexpr const char* kLossRepairedStack = "stack cut by the Go runtime, callers inferred";

// Lengthens what was cut, as Pyroscope does: a stack of 24 frames or more whose 16 outermost ones
// stand in a row further inside of another stack has lost the callers that the other one has.
// Profiles of other languages, other types, and with deep recursion stay as they are. Returns the
// number of samples that were changed; they have the label above, and the profile the loss.
uint64_t repair_go_stacks(DictionaryBuilder& builder, Profile& profile);

}  // namespace vesta
