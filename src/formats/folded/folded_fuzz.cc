#include <algorithm>
#include <cstdlib>

#include "formats/folded/reader.h"
#include "formats/folded/writer.h"

// Whatever is read is consistent, and what is written from it reads back with the same totals.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  vesta::looks_like_folded(bytes);
  vesta::ReadOptions options;
  options.allow_negative = size % 2 == 1;
  options.max_stack_depth = 64;
  options.max_string_bytes = 256;
  const auto batch = vesta::read_folded(bytes, options);
  if (!batch) return 0;
  if (!vesta::find_inconsistency(*batch).empty()) std::abort();
  const bool has_negative = std::ranges::any_of(batch->profiles[0].samples.values,
                                                [](int64_t value) { return value < 0; });
  for (size_t type = 0; type < batch->profiles[0].sample_types.size(); ++type) {
    const std::string text = vesta::write_folded(*batch, type);
    if (text.empty()) continue;
    const auto again = vesta::read_folded(text, options);
    if (!again || again->profiles[0].sample_types.size() != 1) std::abort();
    if (has_negative) continue;  // saturated sums depend on the order
    if (vesta::total_of(again->profiles[0], 0) != vesta::total_of(batch->profiles[0], type)) {
      std::abort();
    }
  }
  return 0;
}
