// Shortens demangled names to what fits into a flame graph. Works on text, because no demangler
// can leave template arguments out. Pure functions; linear time.
#pragma once

#include <string>
#include <string_view>

namespace vesta {

// "a::B<int>::f(long)::{lambda(int)#1}::operator()(int) const" becomes
// "a::B<…>::f::{lambda()#1}::operator()". Expects a name without a return type.
std::string shorten_cpp_name(std::string_view name);

// "<alloc::vec::Vec<u8> as core::fmt::Debug>::fmt::<T>" becomes
// "<alloc::vec::Vec<…> as core::fmt::Debug>::fmt::<…>".
std::string shorten_rust_name(std::string_view name);

// Where the suffixes begin that compilers add to a function they split or copy; its size when
// there are none.
size_t compiler_suffix_offset(std::string_view linkage_name);

}  // namespace vesta
