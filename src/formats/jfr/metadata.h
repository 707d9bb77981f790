// What a chunk says about its own types: every event, constant and structure with its fields in
// order. Owns its names; views into them live as long as the table. Immutable once read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/table_hash.h"
#include "formats/jfr/chunk.h"

namespace vesta::jfr {

enum class Primitive : uint8_t {
  kNone,  // a structure
  kBoolean,
  kByte,
  kChar,
  kShort,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kString,
};

// What a number stands for, by its Timespan or Timestamp annotation.
enum class TimeUnit : uint8_t {
  kNone,
  kTicks,
  kNanoseconds,
  kMicroseconds,
  kMilliseconds,
  kSeconds,
};

inline constexpr uint32_t kNoType = UINT32_MAX;

struct Field {
  std::string_view name;
  int64_t type_id = 0;
  uint32_t type = kNoType;  // position in TypeTable::types
  bool constant_pool = false;
  bool is_array = false;
  TimeUnit unit = TimeUnit::kNone;
};

struct Type {
  int64_t id = 0;
  std::string_view name;
  Primitive primitive = Primitive::kNone;
  std::vector<Field> fields;
};

class TypeTable {
 public:
  TypeTable() = default;
  TypeTable(TypeTable&&) = default;
  TypeTable& operator=(TypeTable&&) = default;

  const std::vector<Type>& types() const { return types_; }
  const Type& operator[](uint32_t position) const { return types_[position]; }
  // kNoType when there is none.
  uint32_t by_id(int64_t id) const;
  uint32_t by_name(std::string_view name) const;

 private:
  friend class MetadataParser;
  std::vector<std::string> strings_;
  std::vector<Type> types_;
  std::unordered_map<int64_t, uint32_t, TableKeyHash> by_id_;
};

// REQUIRES: offset <= chunk.bytes.size()
Result<TypeTable> read_metadata(const Chunk& chunk, size_t offset);

}  // namespace vesta::jfr
