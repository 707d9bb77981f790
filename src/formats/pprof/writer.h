// Writes a pprof profile (profile.proto) that `go tool pprof` and others open. Pure function.
#pragma once

#include <string>

#include "profile/profile.h"

namespace vesta {

// Uncompressed: callers gzip it. Text is valid UTF-8 afterwards, as protobuf demands. Only what the
// samples use is written, in the order of the tables. What pprof has no field for becomes labels
// (links as `trace_id` and `span_id`, times as `timestamp_ns`) or comments (losses); a resource has
// no place: flatten() first. REQUIRES: the batch has exactly one profile.
std::string write_pprof(const ProfileBatch& batch);
// One profile of several, with what it needs of their dictionary.
std::string write_pprof(const Dictionary& dictionary, const Profile& profile);

}  // namespace vesta
