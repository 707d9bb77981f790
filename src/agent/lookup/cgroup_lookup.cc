#include "agent/lookup/cgroup_lookup.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "agent/metadata/container_names.h"
#include "agent/process/cgroup_folder.h"
#include "base/clock.h"
#include "base/suggest.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxFolders = 65536;
constexpr size_t kMinIdDigits = 4;  // fewer are rather a name

bool is_populated(const CgroupTree& tree, const std::string& folder) {
  if (tree.has_processes) return tree.has_processes(folder);
  const auto opened = CgroupFolder::open(folder);
  return opened.ok() && opened->has_processes();
}

// Roots of hierarchies, the best first: version 2, then systemd's own, then those of controllers.
std::vector<std::string> hierarchies(const CgroupTree& tree) {
  if (::access((tree.root + "/cgroup.controllers").c_str(), F_OK) == 0) return {tree.root};
  std::vector<std::string> out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(tree.root, error)) {
    if (!entry.is_symlink(error) && entry.is_directory(error)) out.push_back(entry.path().string());
  }
  const auto rank = [](const std::string& path) {
    if (::access((path + "/cgroup.controllers").c_str(), F_OK) == 0) return 0;
    return path.ends_with("/systemd") ? 1 : 2;
  };
  std::ranges::sort(out, {}, [&](const std::string& path) { return std::pair(rank(path), path); });
  return out;
}

std::string_view base_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Without those that are below another one. Parents come first.
std::vector<std::string> outermost(const std::vector<std::string>& folders) {
  std::vector<std::string> out;
  for (const std::string& folder : folders) {
    const bool is_inside = std::ranges::any_of(
        out, [&](const std::string& other) { return folder.starts_with(other + "/"); });
    if (!is_inside) out.push_back(folder);
  }
  return out;
}

struct Search {
  std::vector<std::string> folders;  // of one hierarchy, with processes
  bool found_empty = false;          // some match, but nothing runs there
};

// `matches(path below the hierarchy)`, in the first hierarchy where something runs.
template <class Matches>
Search search(const CgroupTree& tree, const Matches& matches) {
  Search out;
  for (const std::string& hierarchy : hierarchies(tree)) {
    std::vector<std::string> found;
    for (std::string& folder : list_folders(hierarchy, kMaxFolders)) {
      if (folder.size() > hierarchy.size() &&
          matches(std::string_view(folder).substr(hierarchy.size())))
        found.push_back(std::move(folder));
    }
    found = outermost(found);
    out.found_empty = out.found_empty || !found.empty();
    std::erase_if(found, [&](const std::string& folder) { return !is_populated(tree, folder); });
    if (found.empty()) continue;
    out.folders = std::move(found);
    break;
  }
  return out;
}

Error nothing_runs(std::string_view what) {
  return {ErrorCode::kNotFound, fmt::format("no process runs in {}", what),
          "try systemd-cgls, or read /proc/PID/cgroup"};
}

std::string hint_of(std::string_view name, const std::set<std::string>& known,
                    std::string_view otherwise) {
  const std::vector<std::string> words(known.begin(), known.end());
  const std::string near = nearest(name, words);
  return near.empty() ? std::string(otherwise) : fmt::format("did you mean {}?", near);
}

}  // namespace

Result<std::vector<std::string>> find_cgroup(const CgroupTree& tree, std::string_view path) {
  const std::string typed(path);
  // Folders as they are, and as /proc/PID/cgroup writes them: from the root of a hierarchy.
  std::vector<std::string> candidates;
  if (typed.starts_with(tree.root + "/")) {
    candidates.push_back(typed);
  } else {
    for (const std::string& hierarchy : hierarchies(tree))
      candidates.push_back(fmt::format("{}/{}", hierarchy, typed));
    candidates.push_back(fmt::format("{}/{}", tree.root, typed));  // "cpu/jobs" of version 1
  }
  bool is_there = false;
  std::error_code error;
  const std::string root = std::filesystem::canonical(tree.root, error).string();
  for (const std::string& candidate : candidates) {
    const std::string folder = std::filesystem::canonical(candidate, error).string();
    // "..", or a link, may lead anywhere.
    if (error || (folder != root && !folder.starts_with(root + "/")) ||
        !std::filesystem::is_directory(folder, error))
      continue;
    is_there = true;
    if (is_populated(tree, folder)) return std::vector<std::string>{folder};
  }
  if (is_there) return nothing_runs(fmt::format("cgroup {}", path));
  return Error{ErrorCode::kNotFound, fmt::format("no cgroup {} in {}", path, tree.root),
               "/proc/PID/cgroup names those of a process, for example --cgroup "
               "/system.slice/nginx.service"};
}

Result<std::vector<std::string>> find_unit(const CgroupTree& tree, std::string_view name) {
  std::set<std::string> units;
  const std::string service = fmt::format("{}.service", name);
  const Search found = search(tree, [&](std::string_view path) {
    const std::string_view base = base_of(path);
    if (base.ends_with(".service")) units.emplace(base);
    return base == name || base == service;
  });
  if (!found.folders.empty()) return found.folders;
  if (found.found_empty) return nothing_runs(fmt::format("unit {}", name));
  return Error{ErrorCode::kNotFound, fmt::format("no systemd unit {} is running", name),
               hint_of(service, units, "try systemctl list-units --state=running")};
}

Result<std::vector<std::string>> find_container(const CgroupTree& tree, std::string_view name) {
  const std::string wanted(name.starts_with('/') ? name.substr(1) : name);
  ContainerNames runtimes;
  const auto name_of = [&](const CgroupIdentity& identity) {
    if (!identity.container_name.empty()) return identity.container_name;
    if (tree.container_name) return tree.container_name(identity);
    return runtimes.of(identity.runtime, identity.container_id, monotonic_ns()).name;
  };
  std::set<std::string> ids;
  const Search found = search(tree, [&](std::string_view path) {
    const CgroupIdentity identity = parse_cgroup_path(path);
    if (identity.container_id.empty()) return false;
    const bool is_it =
        identity.container_id == wanted ||
        (wanted.size() >= kMinIdDigits && identity.container_id.starts_with(wanted)) ||
        name_of(identity) == wanted;
    if (is_it) ids.insert(identity.container_id);
    return is_it;
  });
  if (ids.size() > 1 && !ids.contains(wanted)) {
    return Error{ErrorCode::kUsage,
                 fmt::format("{} containers have the name {} or an id that begins with it",
                             ids.size(), name),
                 fmt::format("use more digits of an id: {}", fmt::join(ids, ", "))};
  }
  if (!found.folders.empty()) return found.folders;
  if (found.found_empty) return nothing_runs(fmt::format("container {}", name));
  return Error{ErrorCode::kNotFound, fmt::format("no container {} is running", name),
               "try docker ps, podman ps or crictl ps; the first digits of an id are enough"};
}

}  // namespace vesta::agent
