// DWARF expressions in call frame information, recognised by their shape: compilers and assembly
// authors use a handful, and an interpreter has no place in the kernel. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

namespace vesta {

// DWARF numbers of x86-64 registers that unwinding is about.
enum : uint8_t { kRegisterRbx = 3, kRegisterRbp = 6, kRegisterRsp = 7, kRegisterReturn = 16 };

struct CfiExpression {
  enum class Shape : uint8_t {
    kUnknown,
    kRegister,      // register + offset
    kDeref,         // *(register + offset) + addend
    kDerefIndexed,  // *(sp + 8 * register + offset) + 8: OpenSSL's Montgomery multiplication
    kPlt,           // sp + 8 + ((pc & 15) >= offset ? 8 : 0): a lazily bound call stub
  };
  Shape shape = Shape::kUnknown;
  uint8_t base = 0;  // DWARF number
  int64_t offset = 0;
  int64_t addend = 0;
};

CfiExpression recognise_expression(std::string_view expression);

}  // namespace vesta
