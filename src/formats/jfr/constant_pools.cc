#include "formats/jfr/constant_pools.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/table_hash.h"
#include "formats/common/parse_error.h"

namespace vesta::jfr {

Status ConstantPools::read_chain(const Chunk& chunk, const TypeTable& types, uint64_t offset) {
  std::unordered_set<uint64_t, TableKeyHash> seen;
  while (true) {
    if (offset < kChunkHeaderBytes || offset >= chunk.bytes.size()) {
      return parse_error("jfr", chunk.file_offset,
                         fmt::format("checkpoint: offset {} is outside its chunk of {} bytes",
                                     static_cast<int64_t>(offset), chunk.bytes.size()),
                         "the file is damaged");
    }
    if (!seen.insert(offset).second) {
      return parse_error("jfr", chunk.file_offset + offset,
                         "checkpoint: the chain of checkpoints is circular", "the file is damaged");
    }
    VESTA_ASSIGN(const int64_t delta, read_checkpoint(chunk, types, offset));
    if (delta == 0) return {};
    offset += static_cast<uint64_t>(delta);
  }
}

Status ConstantPools::read_each(const Chunk& chunk, const TypeTable& types,
                                std::span<const size_t> offsets) {
  for (const size_t offset : offsets) {
    auto delta = read_checkpoint(chunk, types, offset);
    if (!delta) return std::move(delta).error();
  }
  return {};
}

// Returns the distance to the next checkpoint of the chain.
Result<int64_t> ConstantPools::read_checkpoint(const Chunk& chunk, const TypeTable& types,
                                               size_t offset) {
  pools_.resize(types.types().size());
  Record record;
  if (!read_record(chunk, offset, record)) return bad_record(chunk, offset);
  if (record.type_id != kCheckpointTypeId) {
    return parse_error("jfr", chunk.file_offset + offset,
                       fmt::format("checkpoint: the record there has type {}, not {}",
                                   record.type_id, kCheckpointTypeId),
                       "the file is damaged");
  }
  // Checkpoints that overlap would make a small file cost the square of its size.
  bytes_read_ += record.end - record.offset;
  if (bytes_read_ > chunk.bytes.size()) {
    return parse_error("jfr", chunk.file_offset + offset, "checkpoint: overlaps another one",
                       "the file is damaged");
  }
  Cursor cursor = chunk.cursor(record.payload, record.end);
  cursor.read_long();  // start
  cursor.read_long();  // duration
  const int64_t delta = cursor.read_long();
  cursor.read_byte();  // why the checkpoint was written
  const int32_t pool_count = cursor.read_int();
  for (int32_t i = 0; i < pool_count && !cursor.failed(); ++i)
    VESTA_TRY(read_pool(chunk, types, cursor));
  if (cursor.failed()) {
    return parse_error("jfr", chunk.file_offset + offset,
                       "checkpoint: its constants run past its end", "the file is damaged");
  }
  return delta;
}

Status ConstantPools::read_pool(const Chunk& chunk, const TypeTable& types, Cursor& cursor) {
  const size_t at = cursor.offset();
  const int64_t type_id = cursor.read_long();
  const int32_t count = cursor.read_int();
  if (cursor.failed() || count == 0) return {};
  const uint32_t type = types.by_id(type_id);
  if (type == kNoType || count < 0) {
    return parse_error("jfr", chunk.file_offset + at,
                       fmt::format("checkpoint: {} constants of type {}{}", count, type_id,
                                   type == kNoType ? ", which the metadata does not describe" : ""),
                       "the file is damaged");
  }
  Pool& pool = pools_[type];
  if (!pool.has_layout) {
    auto layout =
        compile_fields(types, type, {.wanted = {}, .compressed_ints = chunk.compressed_ints});
    if (!layout) {
      return parse_error(
          "jfr", chunk.file_offset + at,
          fmt::format("metadata: type {}: {}", types[type].name, layout.error().message),
          "the file is damaged");
    }
    pool.layout = std::move(layout).value();
    pool.has_layout = true;
  }
  Slots slots;
  for (int32_t i = 0; i < count && !cursor.failed(); ++i) {
    const int64_t id = cursor.read_long();
    // A constant that is written again says the same: the newest one stands.
    if (!cursor.failed() && pool.positions.insert(id, static_cast<uint32_t>(pool.offsets.size())))
      pool.offsets.push_back(static_cast<uint32_t>(cursor.offset()));
    pool.layout.rerun(cursor, slots);
  }
  return {};
}

}  // namespace vesta::jfr
