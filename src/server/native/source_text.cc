#include "server/native/source_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/file.h"
#include "base/utf8.h"

namespace vesta::server {
namespace {

// What is left of the path below the prefix; none when it is not below it.
std::optional<std::string_view> below(std::string_view prefix, std::string_view path) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (!path.starts_with(prefix)) return std::nullopt;
  path.remove_prefix(prefix.size());
  if (!prefix.empty() && !path.starts_with('/')) return std::nullopt;
  while (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

// "." and ".." are no names of files, and a path may hold no zero.
bool is_plain(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    if (part == ".." || part == ".") return false;
    if (slash == path.size()) return true;
    path.remove_prefix(slash + 1);
  }
}

// The kernel resolves the path, so that no link can be exchanged between a check and its use.
UniqueFd open_beneath(int folder, const std::string& path) {
  open_how how{};
  // A pipe in the folder must not hang us.
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof(how))));
}

Error cannot_read(std::string_view path, int problem) {
  switch (problem) {
    case ENOENT:
    case ENOTDIR:
      return {ErrorCode::kNotFound, fmt::format("{} is not in its source folder", path), ""};
    case EXDEV:
    case ELOOP:
      return {ErrorCode::kPermission, fmt::format("{} leads out of its source folder", path), ""};
    case EACCES:
    case EPERM:
      return {ErrorCode::kPermission, fmt::format("cannot read {}: permission denied", path), ""};
    default:
      return {ErrorCode::kIo, fmt::format("cannot read {}: {}", path, std::strerror(problem)), ""};
  }
}

Result<std::string> read_all(const UniqueFd& file, std::string_view path) {
  std::string bytes;
  // One more says whether it has grown meanwhile.
  bytes.resize(kMostSourceBytes + 1);
  size_t size = 0;
  while (size < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(path, errno);
    if (count == 0) break;
    size += static_cast<size_t>(count);
  }
  if (size > kMostSourceBytes) {
    return Error{ErrorCode::kLimit, fmt::format("{} is larger than 4 MiB", path), ""};
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

Result<std::string> read_source(std::span<const SourceFolder> folders, std::string_view path) {
  const SourceFolder* found = nullptr;
  std::string_view rest;
  for (const SourceFolder& folder : folders) {
    const auto left = below(folder.prefix, path);
    if (!left || (found != nullptr && folder.prefix.size() <= found->prefix.size())) continue;
    found = &folder;
    rest = *left;
  }
  const std::string shown = replace_invalid_utf8(path.substr(0, 200));
  if (found == nullptr) {
    return Error{ErrorCode::kNotFound, fmt::format("no source folder is configured for {}", shown),
                 "add one to server.sources"};
  }
  if (!is_plain(rest)) {
    return Error{ErrorCode::kPermission,
                 fmt::format("{} is not a plain path below its source folder", shown), ""};
  }
  const UniqueFd folder(::open(found->folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return cannot_read(found->folder, errno);
  const UniqueFd file = open_beneath(folder.get(), std::string(rest));
  if (!file.valid()) return cannot_read(shown, errno);
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return cannot_read(shown, errno);
  if (!S_ISREG(about.st_mode)) {
    return Error{ErrorCode::kUnsupported, fmt::format("{} is not a regular file", shown), ""};
  }
  if (about.st_size > static_cast<off_t>(kMostSourceBytes)) {
    return Error{ErrorCode::kLimit, fmt::format("{} is larger than 4 MiB", shown), ""};
  }
  VESTA_ASSIGN(const std::string bytes, read_all(file, shown));
  return replace_invalid_utf8(bytes);
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace vesta::server
