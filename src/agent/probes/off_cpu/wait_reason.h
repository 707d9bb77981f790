// What a thread waited for, in one word, by the rule that is written down in README.md: from its
// state, its system call and the functions of the kernel that it waited in. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vesta::agent {

// `detail` is that of the sample (shared/off_cpu.h); `functions` are those of the kernel, leaf
// first, empty names for those without one. The word lives for ever: "disk", "run queue", "other".
std::string_view wait_reason(uint64_t detail, std::span<const std::string_view> functions);

}  // namespace vesta::agent
