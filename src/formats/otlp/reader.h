// OTLP profiles (v1development) as protobuf or JSON: ProfilesData and ExportProfilesServiceRequest,
// which have the same fields. Pure functions. The README says how releases are told apart and what
// becomes of each field.
#pragma once

#include <string>
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

// What became of a message that was not taken as a whole.
struct OtlpOutcome {
  uint64_t profiles = 0;  // all that are in the message
  uint64_t rejected = 0;
  Error first_problem;             // of the rejected ones
  uint64_t original_payloads = 0;  // were there and are not kept
  std::string profile_ids;         // one after the other: tells a message that is sent again
};

// As above, but a profile that is wrong in itself is left out and told of, and the others are read.
Result<ProfileBatch> read_otlp_partly(std::string_view bytes, const ReadOptions& options,
                                      OtlpOutcome& outcome);
Result<ProfileBatch> read_otlp_json_partly(std::string_view bytes, const ReadOptions& options,
                                           OtlpOutcome& outcome);

namespace otlp {

// Reads protobuf that was made from JSON: field numbers are known, errors name fields only.
Result<ProfileBatch> read_transcoded(std::string_view bytes, const ReadOptions& options,
                                     OtlpOutcome* outcome = nullptr);

}  // namespace otlp
}  // namespace vesta
