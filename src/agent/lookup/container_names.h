// Which container has a name. Reads what runtimes keep on disk, bounded; any thread.
#pragma once

#include <string>
#include <string_view>

namespace vesta::agent {

inline constexpr const char* kDockerContainers = "/var/lib/docker/containers";

// The id of Docker's container of that name, empty when there is none or its files cannot be read.
std::string docker_container_id(const std::string& containers_folder, std::string_view name);

}  // namespace vesta::agent
