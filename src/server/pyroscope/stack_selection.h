// Which stacks of a selection a request means, and what is left of them. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "profile/profile.h"
#include "store/selection.h"

namespace vesta::server {

// Leaves the weights of stacks that begin with these functions, from the root; whole stacks, the
// call site included. All of them for no functions.
void keep_call_site(Selection& selection, std::span<const std::string> call_site);

// By stack of a tree, whether it begins with these functions.
std::vector<uint8_t> stacks_below(const StackTree& tree, std::span<const std::string> call_site);

// Leaves the innermost locations of each stack, as Go's profile-guided optimisation reads them.
// Without line numbers of the innermost one when callees are aggregated. 0 keeps all.
ProfileBatch keep_leaves(const ProfileBatch& batch, uint32_t locations, bool aggregate_callees);

}  // namespace vesta::server
