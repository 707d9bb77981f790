// Which field numbers a message uses. OTLP renumbered its profile messages between releases without
// a version on the wire, so the reader tells them apart by shape: the README has the rules. Pure
// functions.
#pragma once

#include <cstdint>

#include "formats/otlp/decoding.h"

namespace vesta::otlp {

// Field numbers that differ between releases; 0 where a release has no such field.
struct Layout {
  uint32_t sample_attributes;
  uint32_t sample_link;
  uint32_t sample_values;
  uint32_t profile_comments;
  uint32_t profile_id;
  uint32_t profile_dropped;
  uint32_t profile_payload_format;
  uint32_t profile_payload;
  uint32_t profile_attributes;
};

inline constexpr Layout kLayout1_8{3, 4, 2, 7, 8, 9, 10, 11, 12};
inline constexpr Layout kLayout1_9{3, 4, 2, 0, 7, 8, 9, 10, 11};
inline constexpr Layout kLayout1_10{2, 3, 4, 0, 7, 8, 9, 10, 11};
// JSON names its fields, so one numbering serves all releases; comments exist in 1.8 only.
inline constexpr uint32_t kJsonComments = 15;
inline constexpr Layout kLayoutJson{2, 3, 4, kJsonComments, 7, 8, 9, 10, 11};

// The layout of a whole message; options().otlp_layout overrides what its shape says. False with
// `is_1_7`, and without an error, for release 1.7, whose messages must be rewritten first
// (release_1_7.h). False with an error for releases before it, for malformed bytes, and where two
// readings are equally good.
// REQUIRES: decoding.sizes is filled in.
bool find_layout(Decoding& decoding, std::string_view message, Layout& layout, bool& is_1_7);

// Always false: the current field has a shape that only a release before 1.7 has.
bool refuse_old_release(Decoding& decoding, const WireReader& reader, std::string_view release);

}  // namespace vesta::otlp
