// Names and images of containers, from the files in which runtimes keep their state, else from
// Docker's socket. Remembers what it found, within limits. One owner thread; reads small files, and
// waits for the socket a short time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/metadata/container_state.h"

namespace vesta::agent {

struct ContainerNamesOptions {
  // Where the host's files may be seen, in order. An agent in a container of its own sees them
  // through the first process, when it shares the host's process ids.
  std::vector<std::string> roots = {"", "/proc/1/root"};
  std::string docker_socket = "/var/run/docker.sock";  // below each root; empty = not asked
  std::chrono::milliseconds socket_timeout{500};
  size_t max_containers = 4096;  // remembered
};

class ContainerNames {
 public:
  explicit ContainerNames(ContainerNamesOptions options = {}) : options_(std::move(options)) {}

  // Empty when nothing is known, which is asked again after a while. `runtime` and `id` as in
  // CgroupIdentity. The reference holds until the next call.
  const ContainerState& of(std::string_view runtime, const std::string& id, uint64_t now_ns);

 private:
  struct Known {
    ContainerState state;
    uint64_t read_ns = 0;
  };
  ContainerState read(std::string_view runtime, const std::string& id, uint64_t now_ns);
  ContainerState read_files(const std::string& root, const std::string& id) const;
  ContainerState ask_docker(const std::string& root, const std::string& id) const;

  ContainerNamesOptions options_;
  std::unordered_map<std::string, Known> known_;
  uint64_t docker_failed_ns_ = 0;  // 0 = it has not
};

}  // namespace vesta::agent
