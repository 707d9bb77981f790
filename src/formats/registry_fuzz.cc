// Whatever the bytes are, packed or not: reading them ends in an error or in a consistent batch,
// within bounded memory.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "formats/registry.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  vesta::ReadOptions options;
  options.max_decoded_bytes = 4 << 20;
  options.max_samples = 100'000;
  const auto batch = vesta::read_profile({reinterpret_cast<const char*>(data), size}, "", options);
  if (batch.ok() && !vesta::find_inconsistency(*batch).empty()) std::abort();
  return 0;
}
