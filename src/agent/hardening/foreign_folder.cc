#include "agent/hardening/foreign_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace vesta::agent {
namespace {

bool is_of_another(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && info.st_uid != ::geteuid();
}

}  // namespace

std::optional<std::string> foreign_folder(std::span<const std::string> folders) {
  for (const std::string& folder : folders) {
    if (folder.empty()) continue;
    if (is_of_another(folder)) return folder;
    std::error_code error;
    std::filesystem::directory_iterator entry(folder, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
      if (is_of_another(entry->path().string())) return entry->path().string();
    }
  }
  return std::nullopt;
}

}  // namespace vesta::agent
