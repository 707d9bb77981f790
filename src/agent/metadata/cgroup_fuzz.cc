#include <cstdlib>

#include "agent/metadata/cgroup.h"

// Any text is read, and what it gives is bounded.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& got : {vesta::agent::parse_cgroup(text), vesta::agent::parse_cgroup_path(text),
                          vesta::agent::parse_container_mounts(text)}) {
    if (got.container_id.size() > 253 || got.unit.size() > 253 || got.container_name.size() > 253 ||
        got.pod_uid.size() > 36) {
      std::abort();
    }
    vesta::agent::service_of_unit(got.unit);
  }
  return 0;
}
