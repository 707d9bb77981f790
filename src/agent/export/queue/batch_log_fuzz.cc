// Any bytes as records of a log, as they would come out of the decompressor: what is read is
// consistent, whatever was damaged.
#include <cstdlib>

#include "agent/export/queue/batch_log.h"
#include "formats/common/compression.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  vesta::agent::BatchLogReader reader;
  if (!reader.append(vesta::zstd(bytes, 1)).ok()) return 0;
  const vesta::ProfileBatch batch{reader.dictionary(), reader.profiles()};
  if (!find_inconsistency(batch).empty()) std::abort();
  // What could be read can be written and read again.
  vesta::agent::BatchLogWriter writer;
  if (!vesta::agent::BatchLogReader().append(writer.append(batch)).ok()) std::abort();
  return 0;
}
