// Builds a ProfilesDictionary from what profiles refer to: every entry is used and none is there
// twice, whatever the source dictionary looks like. Refers to the source, which must outlive it and
// must not change. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/protobuf/wire.h"
#include "profile/dictionary.h"

namespace vesta::otlp {

// AnyValue messages.
std::string text_value(std::string_view text);
std::string int_value(int64_t number);
std::string bool_value(bool truth);
std::string array_value(std::span<const std::string> values);

// Labels of one key as one AnyValue: several become an array, because OTLP wants keys to be unique.
struct KeyedValue {
  StringId key;
  StringId unit;
  std::string value;
};
std::vector<KeyedValue> group_by_key(const Dictionary& dictionary, std::span<const Label> labels);

class DictionaryWriter {
 public:
  explicit DictionaryWriter(const Dictionary& source);

  // Positions in the tables being written; 0 for what is empty.
  uint32_t string(StringId id);
  uint32_t stack(StackId id);
  uint32_t link(LinkId id);
  uint32_t attribute(std::string_view key, const std::string& value, std::string_view unit = {});
  // The attributes of a label set as a position in a table of lists: equal sets, equal positions.
  uint32_t attribute_list(LabelSetId id);
  // The items of such a list, as the inside of a packed field.
  std::string_view packed_attributes(uint32_t list) const { return lists_[StringId(list)]; }

  // The ProfilesDictionary message.
  WireWriter finish() const;

 private:
  uint32_t string(std::string_view text);
  uint32_t function(FunctionId id);
  uint32_t mapping(MappingId id);
  uint32_t location(LocationId id);

  const Dictionary& source_;
  // The tables hold encoded messages: their bytes are their identity, and entry 0 is the empty
  // message, just as OTLP has it.
  StringTable strings_, mappings_, locations_, functions_, links_, attributes_, stacks_;
  StringTable lists_;
  // Where entries of the source went; kUnknown until asked for.
  std::vector<uint32_t> string_map_, mapping_map_, location_map_, function_map_, stack_map_,
      list_map_;
};

}  // namespace vesta::otlp
