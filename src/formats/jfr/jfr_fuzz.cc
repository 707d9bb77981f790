// Any bytes: an error or a consistent batch, in bounded time and memory.
#include <cstdio>
#include <cstdlib>

#include "formats/jfr/reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  vesta::ReadOptions options;
  options.keep_timestamps = size % 2 == 1;
  options.allow_negative = size % 3 == 1;
  const auto batch = vesta::read_jfr(bytes, options);
  if (!batch) return 0;
  if (const std::string wrong = vesta::find_inconsistency(*batch); !wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::abort();
  }
  return 0;
}
