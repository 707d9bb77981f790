// What the types of OTLP profiles are called in the store. Pure function.
#pragma once

#include "profile/profile.h"

namespace vesta {

// Samples on a CPU are counted and have a period: they become CPU time, as every other sender has
// it. Off-CPU time keeps its type under its own family; anything else belongs to the family of its
// period, or to one guessed from its type. Profiles that have a name keep it.
void name_otlp_types(ProfileBatch& batch);

// Attributes of scopes get the names that they have on the wire, as in Pyroscope, unless an
// attribute of the resource has that name.
void name_otlp_labels(ProfileBatch& batch);

}  // namespace vesta
