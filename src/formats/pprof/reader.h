// Reads pprof profiles (profile.proto), as Go programs and most other tools write them. Pure
// functions. The bytes are uncompressed: callers unpack gzip first.
#pragma once

#include <string_view>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/profile.h"

namespace vesta {

// True for bytes that have the shape of a pprof profile up to its first string, or up to where they
// are cut off.
bool looks_like_pprof(std::string_view bytes);

// True for the formats that pprof read before profile.proto: gperftools' binary CPU profiles and
// the text of heap, contention and thread profiles. read_pprof() answers them with an error that
// says how to convert them.
bool looks_like_legacy_pprof(std::string_view bytes);

// A batch with one profile, rows in the order of the file. Damaged input gives an error with the
// byte offset and the field.
Result<ProfileBatch> read_pprof(std::string_view bytes, const ReadOptions& options = {});

}  // namespace vesta
