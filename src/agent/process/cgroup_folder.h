// A cgroup as a folder of the kernel's file system: which processes are in it and below it. Owns
// its descriptor, so that it stays the same cgroup whatever happens to the path. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace vesta::agent {

class CgroupFolder {
 public:
  // kNotFound when the path leads nowhere or to something that is not a cgroup.
  static Result<CgroupFolder> open(const std::string& path);

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }
  // Of the unified hierarchy, which kernel programs can ask about.
  bool is_version_2() const { return is_version_2_; }

  // In this cgroup and all below, sorted; bounded, zombies left out by the kernel. Those of other
  // pid namespaces are not listed.
  std::vector<uint32_t> processes() const;
  // False once the last one has gone, or the cgroup itself.
  bool has_processes() const;

 private:
  CgroupFolder(std::string path, UniqueFd fd, bool is_version_2)
      : path_(std::move(path)), fd_(std::move(fd)), is_version_2_(is_version_2) {}

  std::string path_;
  UniqueFd fd_;
  bool is_version_2_;
};

// Folders below `root`, itself first, at most `max` of them; parents before their children.
std::vector<std::string> list_folders(const std::string& root, size_t max);

}  // namespace vesta::agent
