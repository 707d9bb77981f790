// Encodes OpenTelemetry process contexts. For tests and fuzz seeds only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "agent/metadata/attributes.h"
#include "formats/protobuf/wire.h"

namespace vesta::agent {

inline WireWriter make_key_value(std::string_view key, const WireWriter& value) {
  WireWriter out;
  out.bytes(1, key);
  out.message(2, value);
  return out;
}

inline WireWriter make_text_value(std::string_view text) {
  WireWriter out;
  out.always_bytes(1, text);
  return out;
}

// With attributes that are not of the resource, which readers do not export.
inline std::string make_context(const Attributes& attributes) {
  WireWriter resource;
  for (const auto& [name, value] : attributes)
    resource.message(1, make_key_value(name, make_text_value(value)));
  WireWriter out;
  out.message(1, resource);
  out.message(2, make_key_value("threadlocal.schema_version", make_text_value("tls_v1")));
  return out.take();
}

}  // namespace vesta::agent
