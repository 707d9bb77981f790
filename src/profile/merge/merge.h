// Putting profiles together. The result depends on the content alone: any order of inputs, any
// nesting of merges gives the same bytes, as long as no sum leaves the range of 64 bits. Pure
// functions and one accumulator, which is not thread-safe.
#pragma once

#include <memory>
#include <span>

#include "profile/profile.h"

namespace vesta {

// What adding two profiles of a gauge means: heaps of two instances add up, heaps of one instance
// at two times average.
enum class GaugeMerge { kSum, kAverage };

// Profiles with the same name, resource, sample types and period type become one; others stay side
// by side. Time is the earliest, duration the sum, period the largest. Equal binaries at different
// addresses count as one. An average is rounded so that the total stays within half a unit.
ProfileBatch merge(std::span<const ProfileBatch* const> batches,
                   GaugeMerge gauges = GaugeMerge::kSum);

// The same for batches that come one after the other and need not stay.
class Merger;
class MergeAccumulator {
 public:
  explicit MergeAccumulator(GaugeMerge gauges = GaugeMerge::kSum);
  ~MergeAccumulator();
  MergeAccumulator(MergeAccumulator&&) noexcept;
  MergeAccumulator& operator=(MergeAccumulator&&) noexcept;

  void add(const ProfileBatch& batch);
  // The merge of all that was added; the accumulator is empty afterwards.
  ProfileBatch finish();

 private:
  GaugeMerge gauges_;
  std::unique_ptr<Merger> merger_;
};

// One batch in canonical form: entries unique, sorted by content, none unused.
ProfileBatch canonicalize(const ProfileBatch& batch);

// All profiles as one, as a pprof file needs it: the union of the sample types, samples that are
// alike in one row, resources as labels of the samples. A batch with one profile and no resource
// keeps its rows and their order.
ProfileBatch flatten(ProfileBatch batch);

// How many values flatten() would make: every row gets a value of every type, so many profiles of
// different types grow with the square. Callers with a hostile batch must look first.
uint64_t flattened_value_count(const ProfileBatch& batch);

}  // namespace vesta
