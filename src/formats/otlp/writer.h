// Profiles as OTLP ProfilesData (v1development, field numbers of 1.10 and later). Pure functions;
// equal batches give equal bytes.
#pragma once

#include <span>
#include <string>

#include "profile/profile.h"

namespace vesta {

struct OtlpWriteOptions {
  // Of profiles whose resource does not name one.
  std::string scope_name;
  std::string scope_version;
};

// Text is valid UTF-8 afterwards, as protobuf demands: receivers refuse the whole message
// otherwise.
std::string write_otlp(const ProfileBatch& batch);
// Some of the profiles of a batch, with what they need of its dictionary.
std::string write_otlp(const Dictionary& dictionary, std::span<const Profile> profiles,
                       const OtlpWriteOptions& options = {});
// The JSON mapping of OTLP: lowerCamelCase names, 64-bit integers as strings, ids in hex.
std::string write_otlp_json(const ProfileBatch& batch);

}  // namespace vesta
