#include <cstdlib>

#include "agent/metadata/container_state.h"

// Whatever runtimes and images write down is a state with short texts, or an empty one.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vesta::agent;  // NOLINT(google-build-using-namespace): all of it is under test
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  for (const ContainerState& state :
       {parse_docker_container(json), parse_oci_config(json), parse_stored_containers(json, "x")}) {
    if (state.name.size() + state.image.size() + state.service.size() > 2048) std::abort();
  }
  return 0;
}
