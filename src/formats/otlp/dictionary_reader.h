// The ProfilesDictionary of an OTLP message: its tables go into the Dictionary one to one. Not
// thread-safe.
#pragma once

#include <vector>

#include "formats/otlp/attribute_reader.h"
#include "formats/otlp/decoding.h"

namespace vesta::otlp {

struct DictionaryExtras {
  AttributeTable attributes;
  std::vector<bool> cut_stacks;  // by stack; empty when none was too deep
};

// How many entries each table has. False, with an error, for malformed bytes.
bool count_tables(Decoding& decoding, WireReader dictionary, TableSizes& sizes);

// REQUIRES: decoding.sizes is filled in.
bool read_dictionary(Decoding& decoding, WireReader dictionary, DictionaryExtras& extras);

}  // namespace vesta::otlp
