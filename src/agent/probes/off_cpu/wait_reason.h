// What a thread waited for, in one word, by the rule that is written down in README.md: from its
// state, its system call and the functions that it waited in. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace vesta::agent {

// `detail` is that of the sample (shared/off_cpu.h); `kernel` and `user` are the functions of each,
// leaf first, empty names for those without one. The word lives for ever: "disk", "run queue",
// "other".
std::string_view wait_reason(uint64_t detail, std::span<const std::string_view> kernel,
                             std::span<const std::string_view> user = {});

// What a thread waited for in futex(2): "lock", or "condition" for all that is no lock.
std::string_view futex_reason(uint64_t detail, std::span<const std::string_view> user);

}  // namespace vesta::agent
