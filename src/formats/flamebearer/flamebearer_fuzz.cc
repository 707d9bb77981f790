#include <cstdlib>

#include "formats/flamebearer/reader.h"
#include "formats/flamebearer/writer.h"

// Whatever is read is consistent, and what is written from it reads back with the same totals.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  vesta::looks_like_flamebearer(bytes);
  vesta::ReadOptions options;
  options.max_stack_depth = 64;
  options.max_string_bytes = 256;
  const auto batch = vesta::read_flamebearer(bytes, options);
  if (!batch) return 0;
  if (!vesta::find_inconsistency(*batch).empty()) std::abort();
  const auto again = vesta::read_flamebearer(vesta::write_flamebearer(*batch), options);
  if (!again) std::abort();
  if (vesta::total_of(again->profiles[0], 0) != vesta::total_of(batch->profiles[0], 0))
    std::abort();
  return 0;
}
