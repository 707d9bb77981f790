#include "reports/answer_basis.h"

#include <gmock/gmock.h>

#include "base/time.h"
#include "profile/profile.h"

namespace vesta {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

Selection selection_of(int64_t samples, int64_t duration_ns) {
  Selection selection;
  selection.type = ProfileType{"process_cpu", "cpu", "nanoseconds", "cpu", "nanoseconds"};
  selection.period = 10'000'000;
  selection.total = samples * selection.period;
  selection.profiles = 1;
  selection.covered.add_whole(duration_ns);
  return selection;
}

TEST(AnswerBasisTest, SaysHowManySamplesAndInstances) {
  const AnswerBasis basis = basis_of(selection_of(5000, 24 * kMinute), 8 * kMinute);
  EXPECT_EQ(basis.samples, uint64_t{5000});
  EXPECT_DOUBLE_EQ(basis.instances().value(), 3);
  EXPECT_THAT(basis.warnings, IsEmpty());
  EXPECT_FALSE(basis_of(selection_of(5000, 0), 0).instances());
}

TEST(AnswerBasisTest, WarnsBelowAHundredSamples) {
  const AnswerBasis few = basis_of(selection_of(12, kMinute), kMinute);
  ASSERT_EQ(few.warnings.size(), 1U);
  EXPECT_EQ(few.warnings[0].code, "few_samples");
  EXPECT_EQ(few.warnings[0].text, "based on 12 samples; shares are uncertain below 100");
  EXPECT_THAT(basis_of(selection_of(100, kMinute), kMinute).warnings, IsEmpty());
  EXPECT_THAT(basis_of(Selection{}, 0).warnings, IsEmpty()) << "nothing is no answer at all";
}

TEST(AnswerBasisTest, SamplesOfWeightsAreNotKnown) {
  Selection selection = selection_of(12, kMinute);
  selection.type = ProfileType{"memory", "alloc_space", "bytes", "space", "bytes"};
  const AnswerBasis basis = basis_of(selection, kMinute);
  EXPECT_FALSE(basis.samples);
  EXPECT_THAT(basis.warnings, IsEmpty());
}

TEST(AnswerBasisTest, RatesAreComparedPerSecondAndInstance) {
  const AnswerBasis before = basis_of(selection_of(1000, 69 * kMinute), 23 * kMinute);
  const AnswerBasis after = basis_of(selection_of(1892, 102 * kMinute), 34 * kMinute);
  const auto rate = compare_by(CompareBy::kRate, Temporality::kCumulative, before, after);
  EXPECT_EQ(rate.by, CompareBy::kRate);
  EXPECT_NEAR(rate.baseline_factor, 102.0 / 69, 1e-12);
  EXPECT_NEAR(1892 / (1000 * rate.baseline_factor), 1.28, 0.001);
  ASSERT_EQ(rate.warnings.size(), 1U);
  EXPECT_EQ(rate.warnings[0].code, "coverage_differs");
  EXPECT_THAT(rate.warnings[0].text, HasSubstr("× 3.0 instances"));
  EXPECT_THAT(rate.warnings[0].text, HasSubstr("comparing rates per instance"));
  const auto totals = compare_by(CompareBy::kAbsolute, Temporality::kCumulative, before, after);
  EXPECT_EQ(totals.baseline_factor, 1);
  EXPECT_EQ(totals.warnings.size(), 1U);
  EXPECT_EQ(compare_by(CompareBy::kRate, Temporality::kInstant, before, after).by,
            CompareBy::kAbsolute);
}

TEST(AnswerBasisTest, FallsBackToTotalsWhereDurationsAreNotKnown) {
  const AnswerBasis unknown = basis_of(selection_of(1000, 0), 0);
  const AnswerBasis known = basis_of(selection_of(1000, kMinute), kMinute);
  const auto found = compare_by(CompareBy::kRate, Temporality::kCumulative, unknown, known);
  EXPECT_EQ(found.by, CompareBy::kAbsolute);
  EXPECT_EQ(found.baseline_factor, 1);
  ASSERT_EQ(found.warnings.size(), 1U);
  EXPECT_EQ(found.warnings[0].code, "duration_unknown");
  // A side without data is not one whose duration is unknown.
  const auto nothing =
      compare_by(CompareBy::kRate, Temporality::kCumulative, basis_of(Selection{}, 0), known);
  EXPECT_THAT(nothing.warnings, IsEmpty());
}

}  // namespace
}  // namespace vesta
