// Files that a privileged process keeps for itself, in folders where others may have planted
// something: links are not followed, and what is made is for its owner alone.
#pragma once

#include <string>
#include <string_view>

#include "base/file.h"
#include "base/result.h"

namespace vesta {

// Makes a new file of mode 0600. A file or a link of that name is removed first: it is left over
// from a run that was killed, or was put there by somebody else. kIo when the folder does not let
// us.
Result<UniqueFd> create_private_file(const std::string& path);

// Opens a file to append to, or makes it with mode 0600. kIo for a link, or what is not a file.
Result<UniqueFd> append_private_file(const std::string& path);

// Opens a file to read. kIo for a link, or what is not a file.
Result<UniqueFd> open_private_file(const std::string& path);

// Puts a file of mode 0600 in the place of whatever has the name, at once and synced.
Status replace_private_file(const std::string& path, std::string_view bytes);

}  // namespace vesta
