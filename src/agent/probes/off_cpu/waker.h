// Who woke a thread: the thread that ran, unless an interrupt hit it. Pure.
#pragma once

#include <span>
#include <string_view>

namespace vesta::agent {

// From the functions of the kernel in which the wake-up happened, leaf first: what interrupted the
// thread that ran ("interrupt: timer"), which has nothing to do with the wake-up then. Empty when it
// was the thread itself. Lives for ever.
std::string_view waking_interrupt(std::span<const std::string_view> kernel);

}  // namespace vesta::agent
