#include <fmt/format.h>
#include <lzma.h>

#include <utility>

#include "symbols/elf/symbol_table.h"

namespace vesta {
namespace {

// Far above what xz -9 asks for (64 MB for its dictionary), so that only a trap is refused.
constexpr uint64_t kMaxDecoderBytes = 128ULL << 20;
constexpr size_t kBlock = 256 * 1024;

}  // namespace

Result<std::shared_ptr<const ElfFile>> open_mini_debug_info(const ElfFile& file,
                                                            uint64_t max_bytes) {
  const ElfSection* section = file.section(".gnu_debugdata");
  if (section == nullptr || section->bytes.empty()) {
    return Error{ErrorCode::kNotFound, "no .gnu_debugdata section", {}};
  }
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMaxDecoderBytes, 0) != LZMA_OK) {
    return Error{ErrorCode::kLimit, "out of memory", {}};
  }
  std::string unpacked;
  stream.next_in = reinterpret_cast<const uint8_t*>(section->bytes.data());
  stream.avail_in = section->bytes.size();
  lzma_ret result = LZMA_OK;
  while (result == LZMA_OK) {
    const size_t used = unpacked.size();
    if (used >= max_bytes) break;
    if (unpacked.capacity() - used < kBlock) unpacked.reserve(used == 0 ? kBlock : used * 2);
    unpacked.resize(used + kBlock);
    stream.next_out = reinterpret_cast<uint8_t*>(unpacked.data()) + used;
    stream.avail_out = kBlock;
    // LZMA_FINISH turns data that ends too early into LZMA_BUF_ERROR instead of a standstill.
    result = lzma_code(&stream, LZMA_FINISH);
    unpacked.resize(used + kBlock - stream.avail_out);
  }
  lzma_end(&stream);
  if (result == LZMA_OK) {
    return Error{ErrorCode::kLimit,
                 fmt::format(".gnu_debugdata decompresses to more than {} bytes", max_bytes),
                 {}};
  }
  if (result != LZMA_STREAM_END) {
    return Error{ErrorCode::kInvalidInput,
                 fmt::format("damaged xz data in .gnu_debugdata (liblzma says {})",
                             static_cast<int>(result)),
                 {}};
  }
  unpacked.shrink_to_fit();
  return ElfFile::parse(InputFile::from_bytes(std::move(unpacked)));
}

}  // namespace vesta
