#include <algorithm>
#include <cstdlib>

#include "agent/metadata/environment.h"
#include "agent/metadata/process_context.h"

// Any message is decoded or refused; attributes are in order, within their limits and not private.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto got =
      vesta::agent::decode_process_context({reinterpret_cast<const char*>(data), size});
  if (!got) return 0;
  if (got->size() > vesta::agent::kMaxOwnAttributes || !std::ranges::is_sorted(*got)) std::abort();
  for (const auto& [name, value] : *got) {
    // Replacing what is not UTF-8 makes three bytes of one.
    if (vesta::agent::is_private_attribute(name) || value.empty() ||
        value.size() > 3 * vesta::agent::kMaxAttributeValueBytes) {
      std::abort();
    }
  }
  return 0;
}
