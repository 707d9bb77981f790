// Whether a file is still the one that was read. Pure but for the look at the file system.
#pragma once

#include <string>
#include <string_view>

namespace vesta::server {

inline constexpr std::string_view kNoFile = "-";

// Changes when the file does, however it was replaced or written; kNoFile when there is none.
std::string file_stamp(const std::string& path);

}  // namespace vesta::server
