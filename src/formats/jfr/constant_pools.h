// Where each constant of a chunk lies: stack traces, methods, threads and so on, by type and id.
// Only positions are kept; constants are decoded when an event asks for them, so that references
// in a circle (class to loader to class) cost nothing. Refers to the chunk.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "formats/jfr/chunk.h"
#include "formats/jfr/field_program.h"
#include "formats/jfr/id_map.h"
#include "formats/jfr/metadata.h"

namespace vesta::jfr {

class ConstantPools {
 public:
  static constexpr uint32_t kNone = IdMap::kNone;

  // Follows the chain of checkpoints from `offset`, newest first.
  Status read_chain(const Chunk& chunk, const TypeTable& types, uint64_t offset);
  // Reads checkpoints at these offsets, in this order: for chunks whose chain is not closed yet.
  Status read_each(const Chunk& chunk, const TypeTable& types, std::span<const size_t> offsets);

  // Position of a constant among those of its type, or kNone.
  uint32_t find(uint32_t type, int64_t id) const {
    return type < pools_.size() ? pools_[type].positions.find(id) : kNone;
  }
  size_t size(uint32_t type) const {
    return type < pools_.size() ? pools_[type].offsets.size() : 0;
  }
  // Offset in the chunk of its first field.
  size_t offset(uint32_t type, uint32_t position) const { return pools_[type].offsets[position]; }

 private:
  struct Pool {
    IdMap positions;
    std::vector<uint32_t> offsets;
    FieldProgram layout;
    bool has_layout = false;
  };

  Result<int64_t> read_checkpoint(const Chunk& chunk, const TypeTable& types, size_t offset);
  Status read_pool(const Chunk& chunk, const TypeTable& types, Cursor& cursor);

  std::vector<Pool> pools_;  // by position of the type
  uint64_t bytes_read_ = 0;
};

}  // namespace vesta::jfr
