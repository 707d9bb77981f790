#include "formats/flamegraph/flame_label.h"

#include <gtest/gtest.h>

namespace vesta {
namespace {

TEST(FlameLabelTest, ShortNameLeavesOutParametersTemplatesAndReturnType) {
  EXPECT_EQ(shorten_name("void ns::Map<int, std::less<int>>::put(int, char) const"),
            "ns::Map::put");
  EXPECT_EQ(shorten_name("ns::f(std::function<void (int)>) [clone .cold]"), "ns::f");
  EXPECT_EQ(shorten_name("(anonymous namespace)::run(int)"), "(anonymous namespace)::run");
}

TEST(FlameLabelTest, NamesOfOtherLanguagesStayWhole) {
  for (const char* name : {"net/http.(*conn).serve", "malloc", "handler (views.py:12)", "a<b",
                           "<alloc::vec::Vec<T> as core::ops::Drop>::drop",
                           "std::ostream& std::operator<<(std::ostream&, char)", "x->y", ""}) {
    EXPECT_EQ(shorten_name(name), name);
  }
}

TEST(FlameLabelTest, NarrowBoxesKeepTheTellingEndOfTheName) {
  const std::string name = "void ns::inner::Map<int>::put(int)";
  const std::string brief = shorten_name(name);
  EXPECT_EQ(fit_label(name, brief, 100), name);
  EXPECT_EQ(fit_label(name, brief, 20), "ns::inner::Map::put");
  EXPECT_EQ(fit_label(name, brief, 18), "inner::Map::put");
  EXPECT_EQ(fit_label(name, brief, 4), "put");
  EXPECT_EQ(fit_label("abcdefgh", "abcdefgh", 5), "abcd…");
  EXPECT_EQ(fit_label("abcdefgh", "abcdefgh", 2), "");
  EXPECT_EQ(fit_label("net/http.(*conn).serve", "net/http.(*conn).serve", 18),
            "http.(*conn).serve");
}

TEST(FlameLabelTest, MarksOfChangeStayWhenTheNameDoesNotFit) {
  EXPECT_EQ(fit_changed_label("a::find", "a::find", FrameChange::kNew, 20), "[new] a::find");
  EXPECT_EQ(fit_changed_label("a::find", "a::find", FrameChange::kGone, 6), "-find");
  EXPECT_EQ(fit_changed_label("a::find", "a::find", FrameChange::kNew, 2), "+");
  EXPECT_EQ(fit_changed_label("a::find", "a::find", FrameChange::kNone, 2), "");
}

}  // namespace
}  // namespace vesta
