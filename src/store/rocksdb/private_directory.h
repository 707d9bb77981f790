// Directories for profiles, which tell what a company runs: for their owner alone.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace vesta::rocks {

// Makes it and what is above it; also takes away what others may do with one that was there.
inline std::error_code make_private_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return error;
  std::error_code ignored;  // somebody else's, which the caller will notice if it matters
  std::filesystem::permissions(path, std::filesystem::perms::owner_all, ignored);
  return {};
}

}  // namespace vesta::rocks
