// YAML into nodes, within bounds on everything a file can do: size, depth, what aliases multiply.
// Plain functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "config/node.h"

namespace vesta::config {

inline constexpr uint64_t kMaxFileBytes = uint64_t{4} << 20;

// kUsage with `NAME:LINE:COLUMN: ` for what is no YAML, a key that is there twice, tabs before
// keys, tags, several documents, and for more than a configuration can need.
Result<Document> parse_yaml(std::string_view text, const std::string& name);
// The same of a file. kNotFound, kPermission, kIo as InputFile has them.
Result<Document> load_yaml(const std::string& path);

}  // namespace vesta::config
