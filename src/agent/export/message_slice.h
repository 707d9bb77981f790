// Payloads that are a list of messages, all in field 1, one for each profile. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/protobuf/wire.h"

namespace vesta::agent {

// The same with `count` of the messages, from `first` on.
inline Result<std::string> slice_messages(std::string_view message, uint32_t first,
                                          uint32_t count) {
  WireWriter out;
  WireReader reader(message);
  uint64_t index = 0;
  const uint64_t end = uint64_t{first} + count;
  while (reader.next()) {
    if (!reader.is(1, WireType::kBytes)) {
      reader.skip();
      continue;
    }
    const std::string_view item = reader.bytes();
    if (index >= first && index < end) out.always_bytes(1, item);
    ++index;
  }
  if (!reader.ok() || index < end)
    return Error{ErrorCode::kInvalidInput, "the payload has fewer profiles than it should", ""};
  return out.take();
}

}  // namespace vesta::agent
