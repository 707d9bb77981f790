// Filters on frames. The expectations were checked against `go tool pprof` by hand.
#include "profile/frame_filter.h"

#include <gtest/gtest.h>

#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"

namespace vesta {
namespace {

using test::batch_from;
using test::folded;
using test::frames;
using Folded = std::map<std::string, int64_t>;

const std::vector<test::FoldedStack> kStacks = {
    {"main;serve;parse", 1}, {"main;serve;render;draw", 2}, {"main;gc", 4}, {"idle", 8}};

Folded filtered(const ProfileBatch& batch, const FrameFilters& filters) {
  return folded(frames(batch, {Granularity::kFunction, filters}));
}
Folded filtered(const FrameFilters& filters) {
  return filtered(batch_from(kStacks), filters);
}

TEST(FrameFilterTest, FocusKeepsStacksWithAMatchingFrame) {
  EXPECT_EQ(filtered({.focus = {"serve"}}),
            (Folded{{"main;serve;parse", 1}, {"main;serve;render;draw", 2}}));
  EXPECT_EQ(filtered({.focus = {"nothing"}}), Folded());
  EXPECT_EQ(filtered({.focus = {"^main$"}}).size(), 3u);
}

TEST(FrameFilterTest, IgnoreDropsStacksWithAMatchingFrame) {
  EXPECT_EQ(filtered({.ignore = {"serve|gc"}}), (Folded{{"idle", 8}}));
}

TEST(FrameFilterTest, IgnoreWinsOverFocus) {
  EXPECT_EQ(filtered({.focus = {"main"}, .ignore = {"draw"}}),
            (Folded{{"main;serve;parse", 1}, {"main;gc", 4}}));
  // A frame that is ignored cannot be the one that is focused on.
  EXPECT_EQ(filtered({.focus = {"gc"}, .ignore = {"gc"}}), Folded());
}

TEST(FrameFilterTest, HideRemovesFramesAndKeepsTheWeight) {
  EXPECT_EQ(filtered({.hide = {"serve|render"}}),
            (Folded{{"main;parse", 1}, {"main;draw", 2}, {"main;gc", 4}, {"idle", 8}}));
  // A stack of which nothing is left is gone.
  EXPECT_EQ(filtered({.hide = {"idle|main|gc"}}),
            (Folded{{"serve;parse", 1}, {"serve;render;draw", 2}}));
}

TEST(FrameFilterTest, ShowRemovesAllOtherFrames) {
  EXPECT_EQ(filtered({.show = {"serve|gc|draw"}}),
            (Folded{{"serve", 1}, {"serve;draw", 2}, {"gc", 4}}));
}

TEST(FrameFilterTest, HideComesBeforeShow) {
  EXPECT_EQ(filtered({.hide = {"draw"}, .show = {"serve|draw"}}), (Folded{{"serve", 3}}));
}

TEST(FrameFilterTest, FocusLooksAtFramesThatAreHidden) {
  EXPECT_EQ(filtered({.focus = {"draw"}, .hide = {"draw"}}), (Folded{{"main;serve;render", 2}}));
}

TEST(FrameFilterTest, ShowFromCutsAboveTheOutermostMatch) {
  EXPECT_EQ(filtered({.show_from = {"serve|render"}}),
            (Folded{{"serve;parse", 1}, {"serve;render;draw", 2}}));
  EXPECT_EQ(filtered(batch_from({{"a;b;c;b", 1}}), {.show_from = {"b"}}), (Folded{{"b;c;b", 1}}));
  EXPECT_EQ(filtered(batch_from({{"a;b;c;b", 1}}), {.show_from = {"c"}}), (Folded{{"c;b", 1}}));
  EXPECT_EQ(filtered(batch_from({{"a;b;c;b", 1}}), {.show_from = {"d"}}), Folded());
}

TEST(FrameFilterTest, RepeatedFiltersNarrowFurther) {
  EXPECT_EQ(filtered({.focus = {"serve", "draw"}}), (Folded{{"main;serve;render;draw", 2}}));
  EXPECT_EQ(filtered({.focus = {"serve", "gc"}}), Folded());
  EXPECT_EQ(filtered({.ignore = {"serve", "gc"}}), (Folded{{"idle", 8}}));
  EXPECT_EQ(filtered({.focus = {"main"}, .hide = {"main", "serve"}}),
            (Folded{{"parse", 1}, {"render;draw", 2}, {"gc", 4}}));
  EXPECT_EQ(filtered({.show = {"r", "se"}}), (Folded{{"serve;parse", 1}, {"serve", 2}}));
  EXPECT_EQ(filtered({.show_from = {"serve", "render"}}), (Folded{{"render;draw", 2}}));
  EXPECT_EQ(filtered({.show_from = {"render", "serve"}}), Folded());
  EXPECT_EQ(filtered({.focus = {"", "gc"}}), (Folded{{"main;gc", 4}}));
}

TEST(FrameFilterTest, FileNamesMatchToo) {
  const ProfileBatch batch = batch_from({{"main@app/main.go:1;run@lib/run.go:2", 1}});
  EXPECT_EQ(filtered(batch, {.hide = {"^lib/"}}), (Folded{{"main", 1}}));
  EXPECT_EQ(filtered(batch, {.focus = {"run\\.go"}}), (Folded{{"main;run", 1}}));
  EXPECT_EQ(filtered(batch, {.show_from = {"lib"}}), (Folded{{"run", 1}}));
}

TEST(FrameFilterTest, InlinedLinesAreHiddenOneByOne) {
  const ProfileBatch batch = batch_from({{"main;outer>middle>inner", 1}});
  EXPECT_EQ(filtered(batch, {}), (Folded{{"main;outer;middle;inner", 1}}));
  EXPECT_EQ(filtered(batch, {.hide = {"middle"}}), (Folded{{"main;outer;inner", 1}}));
  EXPECT_EQ(filtered(batch, {.show = {"outer|inner"}}), (Folded{{"outer;inner", 1}}));
}

TEST(FrameFilterTest, ShowFromCutsInlinedLines) {
  const ProfileBatch batch = batch_from({{"main;outer>middle>inner;leaf", 1}});
  EXPECT_EQ(filtered(batch, {.show_from = {"middle"}}), (Folded{{"middle;inner;leaf", 1}}));
}

TEST(FrameFilterTest, EmptyStacksPassUnlessSomethingIsAsked) {
  const ProfileBatch batch = batch_from({{"", 3}, {"main", 1}});
  EXPECT_EQ(filtered(batch, {}), (Folded{{"", 3}, {"main", 1}}));
  EXPECT_EQ(filtered(batch, {.focus = {"main"}}), (Folded{{"main", 1}}));
  EXPECT_EQ(filtered(batch, {.ignore = {"nothing"}}), (Folded{{"main", 1}}));
  EXPECT_EQ(filtered(batch, {.hide = {"nothing"}}), (Folded{{"main", 1}}));
  EXPECT_EQ(filtered(batch, {.show_from = {"main"}}), (Folded{{"main", 1}}));
}

// A stack "main;?;?" of which the second location has two names and the third none, both in libc.
ProfileBatch with_binaries() {
  ProfileBatch batch = batch_from({});
  DictionaryBuilder b(batch.dictionary);
  Mapping libc;
  libc.file = b.string("/lib/libc.so.6");
  libc.limit = 0x1000;
  Location in_libc;
  in_libc.mapping = b.mapping(libc);
  in_libc.address = 0x10;
  const Line lines[] = {{b.function("memcpy"), 0, 0}, {b.function("copy"), 0, 0}};
  const LocationId named = b.location(in_libc, lines);
  in_libc.address = 0x20;
  const LocationId unnamed = b.location(in_libc, {});
  const std::vector<LocationId> stack = {unnamed, named, b.frame("main")};
  const int64_t value = 1;
  batch.profiles[0].add_sample(b.stack(stack), std::span<const int64_t>(&value, 1));
  return batch;
}

TEST(FrameFilterTest, BinariesMatchAsAWhole) {
  const ProfileBatch batch = with_binaries();
  EXPECT_EQ(filtered(batch, {}), (Folded{{"main;copy;memcpy;[libc.so.6]", 1}}));
  EXPECT_EQ(filtered(batch, {.focus = {"libc"}}).size(), 1u);
  EXPECT_EQ(filtered(batch, {.ignore = {"libc"}}).size(), 0u);
  EXPECT_EQ(filtered(batch, {.hide = {"libc"}}), (Folded{{"main", 1}}));
  // A location without names is not shown even if its binary matches: so does pprof.
  EXPECT_EQ(filtered(batch, {.show = {"libc"}}), (Folded{{"copy;memcpy", 1}}));
  EXPECT_EQ(filtered(batch, {.show_from = {"libc"}}), (Folded{{"copy;memcpy;[libc.so.6]", 1}}));
  EXPECT_EQ(filtered(batch, {.show_from = {"memcpy"}}), (Folded{{"memcpy;[libc.so.6]", 1}}));
}

ProfileBatch dropping(ProfileBatch batch, std::string_view drop, std::string_view keep = {}) {
  batch.profiles[0].drop_frames = batch.dictionary.strings.intern(drop);
  batch.profiles[0].keep_frames = batch.dictionary.strings.intern(keep);
  return batch;
}

TEST(FrameFilterTest, FramesToDropGoWithAllTheyCalled) {
  EXPECT_EQ(filtered(dropping(batch_from({{"main;new;malloc;mmap", 1}}), "malloc"), {}),
            (Folded{{"main;new", 1}}));
  EXPECT_EQ(filtered(dropping(batch_from({{"main;malloc;callback;malloc", 1}}), "malloc"), {}),
            (Folded{{"main", 1}}));
}

TEST(FrameFilterTest, FramesToDropMatchWholeNames) {
  const ProfileBatch batch = batch_from({{"main;malloc_hook;leaf", 1}});
  EXPECT_EQ(filtered(dropping(batch, "malloc"), {}), (Folded{{"main;malloc_hook;leaf", 1}}));
  EXPECT_EQ(filtered(dropping(batch, "malloc.*"), {}), (Folded{{"main", 1}}));
  EXPECT_EQ(filtered(dropping(batch, "malloc.*", "malloc_hook"), {}),
            (Folded{{"main;malloc_hook;leaf", 1}}));
}

TEST(FrameFilterTest, FramesToDropStayAtTheRoot) {
  EXPECT_EQ(filtered(dropping(batch_from({{"start;main;work", 1}}), "start"), {}),
            (Folded{{"start;main;work", 1}}));
  EXPECT_EQ(filtered(dropping(batch_from({{"start;main;start;x", 1}}), "start"), {}),
            (Folded{{"start;main", 1}}));
}

TEST(FrameFilterTest, FramesToDropInsideInlinedCode) {
  // Pruning by an inlined function keeps what it was inlined into.
  EXPECT_EQ(filtered(dropping(batch_from({{"main;outer>alloc>inner;leaf", 1}}), "alloc"), {}),
            (Folded{{"main;outer", 1}}));
  EXPECT_EQ(filtered(dropping(batch_from({{"main;alloc>inner;leaf", 1}}), "alloc"), {}),
            (Folded{{"main", 1}}));
}

TEST(FrameFilterTest, FramesToDropAreComparedWithoutParameters) {
  const auto dropped = [](std::string_view name, std::string_view drop) {
    const std::string stack = "main;" + std::string(name) + ";leaf";
    return filtered(dropping(batch_from({{stack, 1}}), drop), {}) == Folded{{"main", 1}};
  };
  EXPECT_TRUE(dropped("alloc(unsigned long)", "alloc"));
  EXPECT_TRUE(dropped(".alloc", "alloc"));
  EXPECT_TRUE(dropped("(anonymous namespace)::alloc(int)", "\\(anonymous namespace\\)::alloc"));
  EXPECT_TRUE(dropped("Alloc::operator()(int) const", "Alloc::operator\\(\\)"));
  EXPECT_FALSE(dropped("alloc(unsigned long)", "alloc\\(unsigned long\\)"));
}

TEST(FrameFilterTest, ABrokenExpressionInTheProfileIsNotFollowed) {
  const ProfileBatch batch = batch_from({{"main;work", 1}});
  EXPECT_EQ(filtered(dropping(batch, "("), {}), (Folded{{"main;work", 1}}));
  EXPECT_EQ(filtered(dropping(batch, "work", "("), {}), (Folded{{"main;work", 1}}));
}

TEST(FrameFilterTest, ABrokenExpressionFromAPersonIsAnErrorThatNamesTheOption) {
  const MergedProfile profile = test::merged(batch_from(kStacks));
  for (const auto& [filters, option] : {std::pair(FrameFilters{.focus = {"("}}, "--focus"),
                                        {FrameFilters{.ignore = {"("}}, "--ignore"},
                                        {FrameFilters{.hide = {"["}}, "--hide"},
                                        {FrameFilters{.show = {"*"}}, "--show"},
                                        {FrameFilters{.show_from = {"("}}, "--show-from"},
                                        {FrameFilters{.tag_focus = {"("}}, "--tag-focus"},
                                        {FrameFilters{.tag_ignore = {"key=("}}, "--tag-ignore"}}) {
    const auto result = resolve_frames(profile, {Granularity::kFunction, filters});
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, ErrorCode::kUsage);
    EXPECT_NE(result.error().message.find(option), std::string::npos) << result.error().message;
  }
}

TEST(FrameFilterTest, FiltersDoNotChangeTheTotal) {
  EXPECT_EQ(frames(batch_from(kStacks), {Granularity::kFunction, {.focus = {"gc"}}}).total, 15);
}

TEST(FrameFilterTest, RelativeSharesAreOfWhatIsLeft) {
  FrameOptions options;
  options.filters.focus = {"gc"};
  options.relative = true;
  const FrameProfile left = frames(batch_from(kStacks), options);
  int64_t sum = 0;
  for (const StackWeight& weight : left.weights) sum += weight.value;
  EXPECT_EQ(left.total, sum);
  EXPECT_LT(left.total, 15);
}

TEST(FrameFilterTest, PruneFromCutsBelowTheInnermostMatch) {
  const ProfileBatch batch = batch_from({{"main;work;work;inner;leaf", 3}, {"main;idle", 4}});
  EXPECT_EQ(filtered(batch, {.prune_from = {"^work$"}}),
            (Folded{{"main;work;work", 3}, {"main;idle", 4}}));
  EXPECT_EQ(filtered(batch, {.prune_from = {"^work$", "^main$"}}),
            (Folded{{"main;work;work", 3}, {"main", 4}}));
}

TEST(FrameFilterTest, EveryTagFocusHasToMatchAndNoTagIgnoreMay) {
  const ProfileBatch batch = batch_from({{"a", 1, {{"thread", "t1"}, {"zone", "x"}}},
                                         {"b", 2, {{"thread", "t1"}, {"zone", "y"}}},
                                         {"c", 4, {{"thread", "t2"}, {"zone", "x"}}}});
  EXPECT_EQ(filtered(batch, {.tag_focus = {"thread=t1", "zone=x"}}), (Folded{{"a", 1}}));
  EXPECT_EQ(filtered(batch, {.tag_ignore = {"thread=t2", "zone=y"}}), (Folded{{"a", 1}}));
}

TEST(FrameFilterTest, LabelsOfSampleAndResourceDecide) {
  ProfileBatch batch = batch_from({{"a", 1, {{"thread", "t1"}}},
                                   {"b", 2, {{"thread", "t2"}}},
                                   {"c", 4},
                                   {"d", 8, {{"service_name", "db"}}}});
  EXPECT_EQ(filtered(batch, {.tag_focus = {"thread=t1"}}), (Folded{{"a", 1}}));
  EXPECT_EQ(filtered(batch, {.tag_ignore = {"thread=t1"}}), (Folded{{"b", 2}, {"c", 4}, {"d", 8}}));
  DictionaryBuilder b(batch.dictionary);
  const Label resource = b.text_label("service_name", "web");
  batch.profiles[0].resource = b.label_set(std::span<const Label>(&resource, 1));
  EXPECT_EQ(filtered(batch, {.tag_focus = {"service_name=web"}}),
            (Folded{{"a", 1}, {"b", 2}, {"c", 4}}));
  EXPECT_EQ(filtered(batch, {.tag_focus = {"service_name=db"}}), (Folded{{"d", 8}}));
}

}  // namespace
}  // namespace vesta
