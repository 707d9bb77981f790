// Reads the constants of one chunk as text: symbols, class and thread names, states, causes. Refers
// to the chunk, its types and pools, and to the builder and budget that outlive the chunk. Not
// thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/common/read_options.h"
#include "formats/jfr/constant_pools.h"
#include "formats/jfr/field_program.h"
#include "profile/dictionary_builder.h"

namespace vesta::jfr {

// What decoding text may cost over a whole recording, and what it lost. A class name can be part of
// many method names, so the work is not bounded by the size of the input alone.
struct TextBudget {
  size_t max_string_bytes = 0;
  uint64_t bytes_left = 0;
  bool exhausted = false;
  uint64_t invalid_utf8 = 0;
  uint64_t cut_names = 0;

  // Accounts for `bytes` more; false when there are none left.
  bool spend(uint64_t bytes);
  // Valid UTF-8 of at most max_string_bytes.
  std::string clean(std::string text);
};

class Constants {
 public:
  Constants(const Chunk& chunk, const TypeTable& types, const ConstantPools& pools,
            DictionaryBuilder& builder, TextBudget& budget)
      : chunk_(chunk),
        types_(types),
        pools_(pools),
        builder_(builder),
        budget_(budget),
        labels_(types.types().size()) {}

  const Chunk& chunk() const { return chunk_; }
  const TypeTable& types() const { return types_; }
  const ConstantPools& pools() const { return pools_; }
  DictionaryBuilder& builder() { return builder_; }
  TextBudget& budget() { return budget_; }

  // The text of a String field, or of the constant that a field refers to; empty when there is
  // none.
  std::string text(const SlotField& field, uint8_t slot, const Slots& slots);
  // The text of a constant: its `name`, or else its first text.
  std::string constant_text(uint32_t type, int64_t id, int depth = 0);
  // The same as a label for people: classes as they are written in Java, threads by their Java
  // name. Each constant is decoded once.
  StringId label(const SlotField& field, uint8_t slot, const Slots& slots);

  // Runs a program on the constant with this id; false when there is no such constant.
  bool read(uint32_t type, int64_t id, const FieldProgram& program, Slots& slots) const;
  // Never fails: a type whose fields cannot be read gives a program that reads nothing.
  FieldProgram program(uint32_t type, std::span<const WantedField> wanted) const;

 private:
  std::string decode(const RawString& raw, int depth);
  std::string thread_name(uint32_t type, int64_t id);
  const FieldProgram& text_program(uint32_t type);

  const Chunk& chunk_;
  const TypeTable& types_;
  const ConstantPools& pools_;
  DictionaryBuilder& builder_;
  TextBudget& budget_;
  std::unordered_map<uint32_t, FieldProgram> text_programs_;
  std::unordered_map<uint32_t, FieldProgram> thread_programs_;
  std::vector<std::vector<uint32_t>> labels_;  // by type, then position
};

}  // namespace vesta::jfr
