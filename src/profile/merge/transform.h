// Arithmetic on whole profiles. Pure functions.
#pragma once

#include "profile/merged_profile.h"
#include "profile/profile.h"

namespace vesta {

// What happened between two readings of the same cumulative profile (Go's heap, mutex and block
// profiles, say): `after` minus `before`, profile by profile, sample by sample. Gauges keep the
// value of `after`. A counter that went down was reset: its new value is the difference, and the
// loss "counter reset" says how often that was. Profiles that only `before` has are left out. The
// result is in canonical form; it starts when `before` did, if both times are known.
ProfileBatch delta(const ProfileBatch& before, const ProfileBatch& after);

// Multiplies every value of the given type, rounding to nearest; the total stays within half a unit
// of exact, because the rounding error is carried from row to row. Values out of range saturate.
void scale(Profile& profile, size_t type, double factor);

// The batch with that type alone: other columns, profiles that lack it and rows that weigh nothing
// are left out.
ProfileBatch only_type(ProfileBatch batch, const TypeInfo& type);

// Keeps the samples for which `keep(row)` holds.
template <class Keep>
void retain_samples(Profile& profile, Keep&& keep) {
  const Samples& from = profile.samples;
  Samples to;
  for (size_t row = 0; row < from.size(); ++row) {
    if (!keep(row)) continue;
    to.stacks.push_back(from.stacks[row]);
    if (!from.labels.empty()) to.labels.push_back(from.labels[row]);
    if (!from.links.empty()) to.links.push_back(from.links[row]);
    if (!from.times_ns.empty()) to.times_ns.push_back(from.times_ns[row]);
    const auto values = profile.values(row);
    to.values.insert(to.values.end(), values.begin(), values.end());
  }
  profile.samples = std::move(to);
}

}  // namespace vesta
