#include <cstdlib>

#include "formats/speedscope/reader.h"
#include "formats/speedscope/writer.h"

// Whatever is read is consistent, and what is written from it reads back with the same totals.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  vesta::looks_like_speedscope(bytes);
  vesta::ReadOptions options;
  options.max_stack_depth = 64;
  options.max_string_bytes = 256;
  const auto batch = vesta::read_speedscope(bytes, options);
  if (!batch) return 0;
  if (!vesta::find_inconsistency(*batch).empty()) std::abort();
  const auto again = vesta::read_speedscope(vesta::write_speedscope(*batch), options);
  if (!again || again->profiles.size() != batch->profiles.size()) std::abort();
  int64_t before = 0;
  int64_t after = 0;
  for (size_t at = 0; at < batch->profiles.size(); ++at) {
    before = vesta::saturating_add(before, vesta::total_of(batch->profiles[at], 0));
    after = vesta::saturating_add(after, vesta::total_of(again->profiles[at], 0));
  }
  if (before != after) std::abort();
  return 0;
}
