#include <cstdlib>

#include "ingest/pyroscope/app_name.h"
#include "ingest/pyroscope/stack_formats.h"

// Whatever is read is consistent.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  vesta::ReadOptions options;
  options.max_stack_depth = 64;
  vesta::Result<vesta::ProfileBatch> batch = vesta::ProfileBatch();
  switch (data[0] % 4) {
    case 0:
      batch = vesta::pyroscope::read_lines(bytes, options);
      break;
    case 1:
      batch = vesta::pyroscope::read_trie(bytes, options);
      break;
    case 2:
      batch = vesta::pyroscope::read_tree(bytes, options);
      break;
    default:
      (void)vesta::pyroscope::parse_app_name(bytes);
  }
  if (batch && !vesta::find_inconsistency(*batch).empty()) std::abort();
  return 0;
}
