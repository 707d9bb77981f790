// What container runtimes write down about a container: its name, its image, and which service of a
// composition it is. Pure functions of JSON texts that may be anything; images bring labels of
// their own. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace vesta::agent {

// Empty fields are not known.
struct ContainerState {
  std::string name;
  std::string image;      // without tag and digest: docker.io/library/nginx
  std::string image_tag;  // 1.25
  std::string service;    // of Docker Compose or Swarm: stays when the container is another one

  bool empty() const { return name.empty() && image.empty(); }
};

// Docker's config.v2.json, and its API's answer about a container.
ContainerState parse_docker_container(std::string_view json);

// The OCI configuration that containerd and CRI-O start a container with.
ContainerState parse_oci_config(std::string_view json);

// One container of the list that Podman and CRI-O keep.
ContainerState parse_stored_containers(std::string_view json, std::string_view id);

}  // namespace vesta::agent
