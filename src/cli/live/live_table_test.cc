#include "cli/live/live_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/dictionary_builder.h"
#include "profile/profile.h"
#include "profile/sample_table.h"

namespace vesta::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// Two functions: hot has 3/4 of the time by itself, and main calls it.
LiveProfile::Window sample_window() {
  auto batch = std::make_shared<ProfileBatch>();
  DictionaryBuilder dictionary(batch->dictionary);
  const LocationId hot = dictionary.frame("hot_Function");
  const LocationId main = dictionary.frame("main");
  Profile profile;
  profile.sample_types = {{dictionary.string("cpu"), dictionary.string("nanoseconds")}};
  SampleTable samples(1);
  const std::array<LocationId, 2> deep = {hot, main};
  const std::array<int64_t, 1> much = {750'000'000};
  const std::array<int64_t, 1> little = {250'000'000};
  samples.add(dictionary.stack(deep), much);
  samples.add(dictionary.stack(std::span(&main, 1)), little);
  profile.samples = samples.finish();
  batch->profiles.push_back(std::move(profile));
  LiveProfile::Window window;
  const std::shared_ptr<const ProfileBatch> shared = batch;
  auto frames = resolve_frames(select_type(shared, *find_type(list_types(*shared), "cpu")), {});
  window.frames = std::move(*frames);
  window.duration_ns = 2'000'000'000;
  window.samples = 99;
  window
      .binaries[window.frames.frame(FrameId(top_functions(window.frames, {}).rows[0].name)).name] =
      "libhot.so";
  return window;
}

LiveTableOptions options() {
  LiveTableOptions out;
  out.what = "process 7";
  out.frequency = 99;
  return out;
}

TEST(LiveTable, StatesWhatItIsAboutAndWhere) {
  const std::string text = live_table(sample_window(), options());
  EXPECT_THAT(text, HasSubstr("process 7: 0.50 CPUs over the last 2.0s, 99 samples at 99 Hz\n"));
  EXPECT_THAT(text, HasSubstr("  75.00%   75.00%      750ms  hot_Function  [libhot.so]\n"));
  EXPECT_THAT(text, HasSubstr("  25.00%     100%      250ms  main\n"));
}

TEST(LiveTable, SortsAndFiltersInAnyCase) {
  LiveTableOptions wanted = options();
  EXPECT_LT(live_table(sample_window(), wanted).find("hot_"),
            live_table(sample_window(), wanted).find("main"));
  wanted.order = TopOrder::kByCum;
  const std::string by_cum = live_table(sample_window(), wanted);
  EXPECT_GT(by_cum.find("hot_"), by_cum.find("main"));
  wanted.filter = "FUNCTION";
  EXPECT_THAT(live_table(sample_window(), wanted), Not(HasSubstr("main")));
  wanted.filter = "libhot";
  EXPECT_THAT(live_table(sample_window(), wanted), HasSubstr("hot_Function"));
  wanted.filter = "nothing";
  EXPECT_THAT(live_table(sample_window(), wanted), HasSubstr("nothing matches the filter\n"));
}

TEST(LiveTable, CutsLinesToTheTerminalAndRowsToTheirNumber) {
  LiveTableOptions wanted = options();
  wanted.style.width = 34;
  wanted.max_rows = 1;
  std::string text = live_table(sample_window(), wanted);
  EXPECT_THAT(text, Not(HasSubstr("main")));
  EXPECT_THAT(text, HasSubstr("750ms  hot_"));
  EXPECT_THAT(text, Not(HasSubstr("Function")));
}

TEST(LiveTable, AnEmptyWindowSaysSo) {
  LiveProfile::Window window;
  window.frames.dictionary = std::make_shared<const Dictionary>();
  EXPECT_THAT(live_table(window, options()), HasSubstr("no CPU used\n"));
}

}  // namespace
}  // namespace vesta::cli
