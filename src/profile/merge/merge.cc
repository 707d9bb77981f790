#include "profile/merge/merge.h"

#include "profile/carried_rounding.h"
#include "profile/merge/canonical_order.h"
#include "profile/merge/merger.h"

namespace vesta {
namespace {

// After sorting, because the error of rounding is carried from row to row, and the result must not
// depend on the order in which the rows came.
void average_gauges(Profile& profile, int64_t members) {
  for (size_t type = 0; type < profile.sample_types.size(); ++type) {
    if (profile.sample_types[type].temporality != Temporality::kInstant) continue;
    CarriedDivision divide(members);
    for (size_t row = 0; row < profile.samples.size(); ++row) {
      int64_t& value = profile.samples.values[row * profile.sample_types.size() + type];
      value = divide(value);
    }
  }
}

}  // namespace

MergeAccumulator::MergeAccumulator(GaugeMerge gauges)
    : gauges_(gauges), merger_(std::make_unique<Merger>()) {}
MergeAccumulator::~MergeAccumulator() = default;
MergeAccumulator::MergeAccumulator(MergeAccumulator&&) noexcept = default;
MergeAccumulator& MergeAccumulator::operator=(MergeAccumulator&&) noexcept = default;

void MergeAccumulator::add(const ProfileBatch& batch) {
  merger_->add(batch);
}

ProfileBatch MergeAccumulator::finish() {
  const Merger::Gathered gathered = merger_->take();
  merger_ = std::make_unique<Merger>();
  CanonicalBatch sorted = in_canonical_order(gathered.batch, gathered.main_mapping);
  if (gauges_ == GaugeMerge::kAverage) {
    for (size_t i = 0; i < sorted.batch.profiles.size(); ++i) {
      average_gauges(sorted.batch.profiles[i],
                     gathered.origins[sorted.profile_order[i]].members[0]);
    }
  }
  return std::move(sorted.batch);
}

ProfileBatch merge(std::span<const ProfileBatch* const> batches, GaugeMerge gauges) {
  MergeAccumulator accumulator(gauges);
  for (const ProfileBatch* batch : batches) accumulator.add(*batch);
  return accumulator.finish();
}

ProfileBatch canonicalize(const ProfileBatch& batch) {
  const ProfileBatch* one = &batch;
  return merge({&one, 1});
}

}  // namespace vesta
