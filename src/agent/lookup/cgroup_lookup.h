// Cgroups by the names that people know them by: a path, a systemd unit, a container. Reads the
// tree of cgroups; keeps nothing. Any thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/metadata/cgroup.h"
#include "base/result.h"

namespace vesta::agent {

// Where cgroups are. One hierarchy of version 2, or a folder of hierarchies (version 1, or both).
struct CgroupTree {
  std::string root = "/sys/fs/cgroup";
  // Whether anything runs in a cgroup or below it.
  std::function<bool(const std::string& folder)> has_processes =
      {};  // asks the kernel when not set
  // The name of a container, empty when it is not known.
  std::function<std::string(const CgroupIdentity&)> container_name =
      {};  // asks the container runtimes when not set
};

// Folders, of which none holds another. Where several hierarchies know the same cgroup, the one of
// version 2 is taken if anything runs there, for the kernel can follow that by itself.
//
// `path` is absolute below the tree's root, or as in /proc/PID/cgroup. kNotFound when there is no
// such cgroup, or nothing runs in it.
Result<std::vector<std::string>> find_cgroup(const CgroupTree& tree, std::string_view path);
// `name` with or without ".service".
Result<std::vector<std::string>> find_unit(const CgroupTree& tree, std::string_view name);
// By the first digits of its id, or its name. kUsage when several ids begin like this.
Result<std::vector<std::string>> find_container(const CgroupTree& tree, std::string_view name);

}  // namespace vesta::agent
