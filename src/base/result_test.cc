#include "base/result.h"

#include <gtest/gtest.h>

namespace vesta {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Error{ErrorCode::kInvalidInput, "odd", "pass an even number"};
  return n / 2;
}

Result<int> quarter(int n) {
  VESTA_ASSIGN(const int h, half(n));
  VESTA_ASSIGN(const int q, half(h));
  return q;
}

TEST(Result, CarriesTheValueThroughAssign) {
  EXPECT_EQ(*quarter(12), 3);
}

TEST(Result, ReturnsTheFirstError) {
  const auto r = quarter(6);
  ASSERT_FALSE(r.ok());
  EXPECT_EQ(r.error().message, "odd");
  EXPECT_EQ(r.error().hint, "pass an even number");
}

TEST(Result, ContextIsPutBeforeTheMessage) {
  EXPECT_EQ(with_context(half(3).error(), "a.pb").message, "a.pb: odd");
}

TEST(Result, ValueOrFallsBack) {
  EXPECT_EQ(half(4).value_or(9), 2);
  EXPECT_EQ(half(5).value_or(9), 9);
}

}  // namespace
}  // namespace vesta
