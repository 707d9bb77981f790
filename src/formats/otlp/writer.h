// Profiles as OTLP ProfilesData (v1development, field numbers of 1.10 and later). Pure functions;
// equal batches give equal bytes.
#pragma once

#include <string>

#include "profile/profile.h"

namespace vesta {

std::string write_otlp(const ProfileBatch& batch);
// The JSON mapping of OTLP: lowerCamelCase names, 64-bit integers as strings, ids in hex.
std::string write_otlp_json(const ProfileBatch& batch);

}  // namespace vesta
