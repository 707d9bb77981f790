// Decodes the mappings, functions and locations of a pprof file into a Dictionary, in the order of
// the file, and remembers which id stands where. Refers to the bytes and the dictionary, which must
// outlive it. Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/pprof/id_map.h"
#include "formats/pprof/outline.h"
#include "formats/protobuf/wire.h"
#include "profile/dictionary.h"

namespace vesta::pprof {

class TableDecoder {
 public:
  // REQUIRES: the dictionary holds the file's strings and nothing else.
  TableDecoder(std::string_view bytes, const Outline& outline, Dictionary& dictionary);

  // On an error, the dictionary is of no use.
  Status run();

  const IdMap& location_ids() const { return location_ids_; }

 private:
  Status decode_mappings();
  Status decode_functions();
  Status decode_locations();
  // The usual case: short messages, fields in order. False, with nothing appended, for anything
  // else, errors included.
  bool decode_plain_function(uint32_t offset);
  uint64_t location_id_at(uint32_t offset) const;
  bool decode_plain_location(uint32_t offset);
  void add_location(Location entry);
  FrameKind kind_of_source_cached(StringId file);
  // Appends one line to the location that is being decoded; it stands at `offset`. False: error_.
  bool decode_line(WireReader& reader, size_t offset);
  bool fail(Error error);

  std::string_view bytes_;
  const Outline& outline_;
  Dictionary& dictionary_;
  IdMap mapping_ids_;
  IdMap function_ids_;
  IdMap location_ids_;
  // By position; a location takes its kind from its mapping, or else from its innermost function.
  std::vector<FrameKind> mapping_kinds_{FrameKind::kUnknown};
  std::vector<FrameKind> function_kinds_{FrameKind::kUnknown};
  // Functions without an id, as .NET's profiler writes them: each has that of the location at its
  // place.
  size_t nameless_ids_ = 0;
  std::vector<uint8_t> source_kinds_;  // by string; 0 if not asked yet, else the kind plus 1
  Error error_;
};

// What the name of a mapping or of a source file tells about the frames in it.
FrameKind kind_of_mapping(std::string_view file);
FrameKind kind_of_source(std::string_view file);

}  // namespace vesta::pprof
