// OTLP/JSON and protobuf, one into the other, by a table of the messages: the reader and the writer
// know protobuf only. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace vesta::otlp {

// ProfilesData from JSON to protobuf, with the numbers of kLayoutJson. Takes lowerCamelCase and
// .proto names, 64-bit integers as strings or numbers, ids in hex or base64; passes over unknown
// names, as OTLP asks. Errors name the JSON path.
Result<std::string> json_to_protobuf(std::string_view json);

// REQUIRES: a well-formed ProfilesData with repeated fields side by side, as write_otlp makes it.
std::string protobuf_to_json(std::string_view message);

}  // namespace vesta::otlp
