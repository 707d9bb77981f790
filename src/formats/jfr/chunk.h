// The chunks of a recording: each one stands for itself, with its own type descriptions, constants
// and clock. Refers to the bytes of the recording. Pure functions.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "formats/jfr/cursor.h"

namespace vesta::jfr {

inline constexpr size_t kChunkHeaderBytes = 68;
inline constexpr std::string_view kMagic{"FLR\0", 4};

struct Chunk {
  std::string_view bytes;  // header included; offsets in a chunk count from here
  size_t file_offset = 0;
  uint64_t constant_pool_offset = 0;
  uint64_t metadata_offset = 0;
  int64_t start_ns = 0;  // Unix time
  int64_t duration_ns = 0;
  int64_t start_ticks = 0;
  int64_t ticks_per_second = 0;
  bool compressed_ints = false;
  // The writer has not closed the chunk: what it holds so far may lack constants.
  bool unfinished = false;

  Cursor cursor(size_t begin, size_t end) const { return {bytes, begin, end, compressed_ints}; }
  // A span of ticks, saturated.
  int64_t ticks_to_ns(int64_t ticks) const;
  // Unix time of a moment in ticks.
  int64_t unix_ns(int64_t ticks) const;
};

// The chunk that starts at `offset` of the recording. A chunk that runs past the end of the
// recording is an error, unless it is marked as unfinished: then it goes as far as there are bytes.
Result<Chunk> read_chunk_header(std::string_view recording, size_t offset);

// Whether a finished chunk starts here of which the end is missing, or part of its header.
bool is_cut_off(std::string_view rest);

// One record of a chunk: an event, a checkpoint or the metadata.
struct Record {
  size_t offset = 0;   // in the chunk
  size_t payload = 0;  // offset of its first field
  size_t end = 0;
  int64_t type_id = 0;
};

inline constexpr int64_t kMetadataTypeId = 0;
inline constexpr int64_t kCheckpointTypeId = 1;

// The record at `offset`; false when its size is too small to hold itself or runs past the chunk.
inline bool read_record(const Chunk& chunk, size_t offset, Record& record) {
  Cursor cursor = chunk.cursor(offset, chunk.bytes.size());
  const int64_t size = cursor.read_int();
  record.offset = offset;
  record.type_id = cursor.read_long();
  record.payload = cursor.offset();
  if (cursor.failed() || size < 0 || static_cast<uint64_t>(size) > chunk.bytes.size() - offset ||
      static_cast<uint64_t>(size) < record.payload - offset) {
    return false;
  }
  record.end = offset + static_cast<size_t>(size);
  return true;
}

// The error to give for a record that read_record refused.
Error bad_record(const Chunk& chunk, size_t offset);

}  // namespace vesta::jfr
