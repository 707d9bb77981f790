#include "ingest/unpack.h"

#include "formats/common/compression.h"

namespace vesta {
namespace {

// About what a batch takes, as a multiple of the message that it is read from.
constexpr uint64_t kBuiltRatio = 2;

}  // namespace

Result<Unpacked> Unpacked::make(std::string_view bytes, uint64_t max_bytes) {
  Unpacked unpacked;
  unpacked.given_ = bytes;
  if (detect_compression(bytes) == Compression::kNone) return unpacked;
  VESTA_ASSIGN(std::string content, decompress(bytes, max_bytes, unpacked.charge_));
  VESTA_TRY(unpacked.charge_.add_or_alone(content.size() * kBuiltRatio));
  unpacked.owned_ = std::make_unique<const std::string>(std::move(content));
  return unpacked;
}

}  // namespace vesta
