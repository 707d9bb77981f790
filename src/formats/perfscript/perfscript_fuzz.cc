#include <cstdlib>

#include "formats/perfscript/reader.h"

// Whatever is read is consistent. The format has no writer.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  vesta::looks_like_perfscript(bytes);
  vesta::ReadOptions options;
  options.max_stack_depth = 64;
  options.max_string_bytes = 256;
  options.keep_timestamps = size % 2 == 1;
  const auto batch = vesta::read_perfscript(bytes, options);
  if (!batch) return 0;
  if (batch->profiles.empty() || !vesta::find_inconsistency(*batch).empty()) std::abort();
  return 0;
}
