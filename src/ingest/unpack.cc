#include "ingest/unpack.h"

#include "formats/common/compression.h"

namespace vesta {

Result<Unpacked> Unpacked::make(std::string_view bytes, uint64_t max_bytes) {
  Unpacked unpacked;
  unpacked.given_ = bytes;
  const Compression compression = detect_compression(bytes);
  if (compression == Compression::kNone) return unpacked;
  VESTA_ASSIGN(std::string content, compression == Compression::kGzip ? gunzip(bytes, max_bytes)
                                                                      : unzstd(bytes, max_bytes));
  unpacked.owned_ = std::make_unique<const std::string>(std::move(content));
  return unpacked;
}

}  // namespace vesta
