#include "base/time.h"

#include <gtest/gtest.h>

#include <functional>
#include <type_traits>

#include "base/clock.h"

namespace vesta {
namespace {

template <class Operation, class A, class B>
constexpr bool kCompiles = std::is_invocable_v<Operation, A, B>;

TEST(ClockTime, MovesByLengthsAndGivesThemAsDifferences) {
  UnixNs time(kDay);
  time += kHour;
  EXPECT_EQ(time - UnixNs(kDay), kHour);
  EXPECT_EQ(time - 25 * kHour, UnixNs());
  EXPECT_EQ(UnixNs(1) + kSecond, UnixNs(1'000'000'001));
  EXPECT_LT(UnixNs(kDay), time);
}

TEST(ClockTime, ClocksDoNotMix) {
  static_assert(kCompiles<std::minus<>, UnixNs, UnixNs>);
  static_assert(!kCompiles<std::minus<>, UnixNs, MonotonicNs>);
  static_assert(!kCompiles<std::minus<>, MonotonicNs, BootNs>);
  static_assert(kCompiles<std::less<>, BootNs, BootNs>);
  static_assert(!kCompiles<std::less<>, BootNs, UnixNs>);
  static_assert(!std::is_convertible_v<int64_t, UnixNs>);
  static_assert(!std::is_convertible_v<UnixNs, int64_t>);
}

TEST(Clock, ReadsWhatTheKernelHas) {
  const MonotonicNs before = monotonic_now();
  EXPECT_LE(before, monotonic_now());
  EXPECT_LE(before.ns, boot_now().ns) << "which also counts while the machine sleeps";
  EXPECT_GT(unix_now(), UnixNs(1'700'000'000 * kSecond));
}

}  // namespace
}  // namespace vesta
