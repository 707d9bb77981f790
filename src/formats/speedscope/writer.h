// Writes speedscope's JSON file format. Pure functions.
#pragma once

#include <string>

#include "profile/profile.h"

namespace vesta {

// A sampled profile per profile of the batch and sample type, named "<profile> <type>", all over
// one list of frames; `name` is the title of the file. Rows keep their order, rows of value 0 are
// left out. Labels, which the format cannot hold, are not written.
std::string write_speedscope(const ProfileBatch& batch, std::string_view name = "vesta");

}  // namespace vesta
