// A folder that goes with its owner, with all that is in it. Move-only.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace vesta::cli {

class TemporaryFolder {
 public:
  // Below TMPDIR or /tmp, for this user alone.
  static Result<TemporaryFolder> make(std::string_view name);
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;  // empty once moved from
};

}  // namespace vesta::cli
