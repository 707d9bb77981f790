// Bytes as base64, as OTLP/JSON writes them. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace vesta::otlp {

std::string to_base64(std::string_view bytes);
// The standard and the URL-safe alphabet, with or without padding; nothing for other characters.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace vesta::otlp
