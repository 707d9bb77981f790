#include "formats/common/parse_error.h"

#include <fmt/format.h>

namespace vesta {

Error parse_error(std::string_view format, size_t byte_offset, std::string_view what,
                  std::string_view hint) {
  return {ErrorCode::kInvalidInput, fmt::format("{}: byte {}: {}", format, byte_offset, what),
          std::string(hint)};
}

Error parse_error_at_line(std::string_view format, size_t line, std::string_view what,
                          std::string_view hint) {
  return {ErrorCode::kInvalidInput, fmt::format("{}: line {}: {}", format, line, what),
          std::string(hint)};
}

Error parse_error_at_field(std::string_view format, std::string_view path, std::string_view what,
                           std::string_view hint) {
  return {ErrorCode::kInvalidInput, fmt::format("{}: {}: {}", format, path, what),
          std::string(hint)};
}

Error limit_error(std::string_view format, std::string_view what, uint64_t limit) {
  return {ErrorCode::kLimit, fmt::format("{}: {} exceeds the limit of {}", format, what, limit),
          "raise the limit (--max-size, --max-depth) if you trust the input"};
}

Status check_input_size(std::string_view format, std::string_view bytes, uint64_t max_bytes) {
  if (bytes.size() > max_bytes) return limit_error(format, "input size in bytes", max_bytes);
  return {};
}

}  // namespace vesta
