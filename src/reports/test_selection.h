// Selections for tests, made from batches as an engine would make them. Used by tests and
// benchmarks only.
#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"
#include "store/selection.h"

namespace vesta::test {

struct ServiceBatch {
  std::string service;
  const ProfileBatch* batch = nullptr;
};

// The default sample type of all profiles of the batches.
Selection selection_from(const std::vector<ServiceBatch>& services);
Selection selection_from(const ProfileBatch& batch, std::string service = "app");

}  // namespace vesta::test
