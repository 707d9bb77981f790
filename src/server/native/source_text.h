// The text of a source file, from the folders that the configuration names and from nowhere else:
// the path comes from a profile, which anybody may have sent. Plain functions; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/source_folder.h"

namespace vesta::server {

inline constexpr size_t kMostSourceBytes = size_t{4} << 20;

// A regular file below the folder whose prefix is the longest that fits; no `..`, no link that
// leads out, at most kMostSourceBytes. Valid UTF-8, whatever is in the file. kNotFound when no
// folder is meant or there is no such file, kPermission when it leads outside or may not be read,
// kUnsupported for what is no regular file, kLimit for one that is too large.
Result<std::string> read_source(std::span<const SourceFolder> folders, std::string_view path);

// Without their ends, which are \n or \r\n.
std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace vesta::server
