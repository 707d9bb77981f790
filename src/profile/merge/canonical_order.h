// Sorting a batch by content and leaving out what nobody uses, so that equal batches have equal
// bytes. Pure function.
#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace vesta {

struct CanonicalBatch {
  ProfileBatch batch;
  std::vector<uint32_t> profile_order;  // where each profile was before
};

// The main mapping, if any, comes first and stays even if no location is in it.
// REQUIRES: no table has two equal entries
CanonicalBatch in_canonical_order(const ProfileBatch& batch, MappingId main_mapping);

}  // namespace vesta
