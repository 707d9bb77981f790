#include <cstdlib>

#include "agent/metadata/pod_index.h"

// Any text is an index or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto index = vesta::agent::PodIndex::parse({reinterpret_cast<const char*>(data), size});
  if (index && index->pod_count() > size) std::abort();
  if (index) index->container("c0ffee");
  return 0;
}
