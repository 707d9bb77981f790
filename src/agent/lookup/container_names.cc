#include "agent/lookup/container_names.h"

#include <fcntl.h>

#include <filesystem>

#include "agent/process/proc_files.h"
#include "formats/common/json_document.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxContainers = 16384;
constexpr size_t kMaxFileBytes = 4 << 20;

// The name in a config.v2.json, without the slash that Docker puts before it.
std::string name_in(std::string_view json) {
  JsonDocument document;
  ondemand::object root;
  if (!document.open("config.v2.json", json).ok() || !document.root(root)) return "";
  std::string_view name;
  if (root.find_field_unordered("Name").get_string().get(name)) return "";
  if (name.starts_with('/')) name.remove_prefix(1);
  return std::string(name);
}

}  // namespace

std::string docker_container_id(const std::string& containers_folder, std::string_view name) {
  if (name.starts_with('/')) name.remove_prefix(1);
  if (name.empty()) return "";
  std::error_code error;
  size_t count = 0;
  for (std::filesystem::directory_iterator it(containers_folder, error), end;
       !error && it != end && count < kMaxContainers; it.increment(error), ++count) {
    const std::string file = it->path().string() + "/config.v2.json";
    const auto text = read_small_file(AT_FDCWD, file.c_str(), kMaxFileBytes);
    if (text.ok() && name_in(*text) == name) return it->path().filename().string();
  }
  return "";
}

}  // namespace vesta::agent
