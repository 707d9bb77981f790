// OTLP profiles (v1development) as protobuf or JSON: ProfilesData and ExportProfilesServiceRequest,
// which have the same fields. Pure functions. The README says how releases are told apart and what
// becomes of each field.
#pragma once

#include <string_view>

#include "base/result.h"
#include "formats/common/read_options.h"
#include "profile/profile.h"

namespace vesta {

bool looks_like_otlp(std::string_view bytes);
bool looks_like_otlp_json(std::string_view bytes);

// On bad input an error with the byte offset (protobuf) and the field.
Result<ProfileBatch> read_otlp(std::string_view bytes, const ReadOptions& options);
Result<ProfileBatch> read_otlp_json(std::string_view bytes, const ReadOptions& options);

namespace otlp {

// Reads protobuf that was made from JSON: field numbers are known, errors name fields only.
Result<ProfileBatch> read_transcoded(std::string_view bytes, const ReadOptions& options);

}  // namespace otlp
}  // namespace vesta
