#include "formats/jfr/chunk.h"

#include <fmt/format.h>

#include <limits>

#include "base/time.h"
#include "formats/common/parse_error.h"

namespace vesta::jfr {

namespace {

__extension__ using Int128 = __int128;

int64_t saturate(Int128 value) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  if (value < kMin) return kMin;
  return value > kMax ? kMax : static_cast<int64_t>(value);
}

}  // namespace

int64_t Chunk::ticks_to_ns(int64_t ticks) const {
  if (ticks_per_second == kSecond) return ticks;
  return saturate(Int128{ticks} * kSecond / ticks_per_second);
}

int64_t Chunk::unix_ns(int64_t ticks) const {
  const int64_t since_start = saturate(Int128{ticks} - start_ticks);
  return saturate(Int128{start_ns} + ticks_to_ns(since_start));
}

Result<Chunk> read_chunk_header(std::string_view recording, size_t offset) {
  const std::string_view rest = recording.substr(offset);
  if (rest.size() < kChunkHeaderBytes) {
    return parse_error(
        "jfr", offset,
        fmt::format("chunk header: {} bytes left of {}", rest.size(), kChunkHeaderBytes),
        "the file is cut off; copy it again");
  }
  if (!rest.starts_with(kMagic)) {
    return parse_error("jfr", offset, "chunk header: the magic bytes FLR\\0 are missing",
                       offset == 0 ? "not a JFR recording" : "the file is damaged");
  }
  Cursor cursor(rest, kMagic.size(), kChunkHeaderBytes, false);
  const int major = cursor.read_short();
  const int minor = cursor.read_short();
  if (major != 1 && major != 2) {
    return Error{ErrorCode::kUnsupported,
                 fmt::format("jfr: byte {}: chunk header: version {}.{} is not supported",
                             offset + 4, major, minor),
                 "Vesta reads versions 1 and 2, as written by OpenJDK 8u262, 11 and later; record "
                 "with a newer JDK"};
  }
  Chunk chunk;
  chunk.file_offset = offset;
  const auto size = static_cast<uint64_t>(cursor.read_long());
  chunk.constant_pool_offset = static_cast<uint64_t>(cursor.read_long());
  chunk.metadata_offset = static_cast<uint64_t>(cursor.read_long());
  chunk.start_ns = cursor.read_long();
  chunk.duration_ns = cursor.read_long();
  chunk.start_ticks = cursor.read_long();
  chunk.ticks_per_second = cursor.read_long();
  const auto file_state = static_cast<uint8_t>(cursor.read_byte());
  cursor.skip(2);
  chunk.compressed_ints = (cursor.read_byte() & 1) != 0;
  chunk.unfinished = file_state != 0 || size == 0;
  if (chunk.ticks_per_second <= 0) {
    return parse_error("jfr", offset + 56,
                       fmt::format("chunk header: ticks per second is {}", chunk.ticks_per_second),
                       "the file is damaged");
  }
  const bool size_fits = size >= kChunkHeaderBytes && size <= rest.size();
  if (!size_fits && !chunk.unfinished) {
    return parse_error("jfr", offset + 8,
                       fmt::format("chunk header: size {} does not fit the {} bytes that are there",
                                   size, rest.size()),
                       "the file is cut off or damaged; copy it again");
  }
  chunk.bytes = size_fits ? rest.substr(0, size) : rest;
  if (chunk.start_ns < 0) chunk.start_ns = 0;
  if (chunk.duration_ns < 0) chunk.duration_ns = 0;
  return chunk;
}

bool is_cut_off(std::string_view rest) {
  if (rest.size() < kChunkHeaderBytes)
    return rest.substr(0, kMagic.size()) == kMagic.substr(0, rest.size());
  if (!rest.starts_with(kMagic)) return false;
  constexpr size_t kSize = 8;
  constexpr size_t kState = 64;
  Cursor cursor(rest, kSize, kChunkHeaderBytes, false);
  const auto size = static_cast<uint64_t>(cursor.read_long());
  return rest[kState] == 0 && size > rest.size();
}

Error bad_record(const Chunk& chunk, size_t offset) {
  Cursor cursor = chunk.cursor(offset, chunk.bytes.size());
  const int64_t size = cursor.read_int();
  return parse_error("jfr", chunk.file_offset + offset,
                     fmt::format("record: size {} does not fit the {} bytes left in its chunk",
                                 size, chunk.bytes.size() - offset),
                     "the file is damaged");
}

}  // namespace vesta::jfr
