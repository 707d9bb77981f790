// Errors of readers, in one shape: "pprof: byte 1234: sample.location_id: no location has the id
// 77". Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace vesta {

// `what` names the field and what is wrong with it.
Error parse_error(std::string_view format, size_t byte_offset, std::string_view what,
                  std::string_view hint = {});
// For text formats, where a line number helps more.
Error parse_error_at_line(std::string_view format, size_t line, std::string_view what,
                          std::string_view hint = {});
// For formats whose parser does not tell offsets (JSON): `path` as in "profiles[0].samples[3]".
Error parse_error_at_field(std::string_view format, std::string_view path, std::string_view what,
                           std::string_view hint = {});
// The input is larger than a limit of ReadOptions.
Error limit_error(std::string_view format, std::string_view what, uint64_t limit);
// What every reader asks first: may an input of this size be read at all?
Status check_input_size(std::string_view format, std::string_view bytes, uint64_t max_bytes);

}  // namespace vesta
