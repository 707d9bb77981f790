#include "cli/web/temporary_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace vesta::cli {

Result<TemporaryFolder> TemporaryFolder::make(std::string_view name) {
  const char* const base = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): read at a start
  std::string path =
      fmt::format("{}/{}-XXXXXX", base != nullptr && *base != '\0' ? base : "/tmp", name);
  if (::mkdtemp(path.data()) == nullptr) {
    return Error{ErrorCode::kIo,
                 fmt::format("cannot create folder {}: {}", path, std::strerror(errno)),
                 "set TMPDIR to a writable folder"};
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace vesta::cli
