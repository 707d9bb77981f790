#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profile/dictionary_builder.h"
#include "profile/profile.h"
#include "reports/print/report.h"
#include "reports/print/report_parts.h"
#include "reports/selection_tree.h"

namespace vesta {
namespace {

using testing::HasSubstr;

FrameProfile frames_of(std::initializer_list<std::pair<std::vector<std::string>, int64_t>> stacks) {
  auto batch = std::make_shared<ProfileBatch>();
  DictionaryBuilder builder(batch->dictionary);
  Profile p;
  p.sample_types = {
      {builder.string("cpu"), builder.string("nanoseconds"), Temporality::kCumulative}};
  for (const auto& [names, value] : stacks) {
    std::vector<LocationId> stack;
    for (size_t i = names.size(); i-- > 0;) stack.push_back(builder.frame(names[i]));
    p.add_sample(builder.stack(stack), std::span<const int64_t>(&value, 1));
  }
  batch->profiles.push_back(std::move(p));
  const auto types = list_types(*batch);
  return resolve_frames(select_type(batch, types[0]), {}).value();
}

TEST(TextStyle, MakesHarmfulNamesHarmless) {
  EXPECT_EQ(printable("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(printable("a\nb"), "a\\x0ab");
  EXPECT_EQ(printable("x\xE2\x80\xAEy"), "x\\u202ey");
  EXPECT_EQ(printable("x\xC2\x9By"), "x\\u009by");
  EXPECT_EQ(printable("größe"), "größe");
}

TEST(TextStyle, ColoursOnlyWhenAsked) {
  TextStyle style;
  EXPECT_EQ(style.red("x"), "x");
  style.color = true;
  EXPECT_EQ(style.red("x"), "\x1b[31mx\x1b[0m");
}

TEST(Csv, QuotesAndDefusesFormulas) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("=1+1"), "'=1+1");
}

TEST(TopReport, ColumnsShareOneUnit) {
  const FrameProfile p =
      frames_of({{{"main", "fast"}, 10'000'000}, {{"main", "slow"}, 1'990'000'000}});
  const std::string text = top_report(p, TopOrder::kByFlat, {});
  EXPECT_THAT(text, HasSubstr("Showing nodes accounting for 2s, 100% of 2s total"));
  EXPECT_THAT(text, HasSubstr("     1.99s  99.50%  99.50%      1.99s  99.50%  slow"));
  EXPECT_THAT(text, HasSubstr("     0.01s   0.50%    100%      0.01s   0.50%  fast"));
}

TEST(TopReport, UnitsCanBeChosen) {
  ReportOptions options;
  options.unit = "ms";
  EXPECT_THAT(top_report(frames_of({{{"f"}, 1'990'000'000}}), TopOrder::kByFlat, options),
              HasSubstr("1990ms"));
}

TEST(TopReport, ShowsLosses) {
  FrameProfile p = frames_of({{{"f"}, 5}});
  p.losses = {{"ring full", 1234}};
  EXPECT_THAT(top_report(p, TopOrder::kByFlat, {}), HasSubstr("Lost or repaired: 1,234 ring full"));
  ReportOptions json;
  json.format = ReportFormat::kJson;
  EXPECT_THAT(top_report(p, TopOrder::kByFlat, json), HasSubstr("\"reason\": \"ring full\""));
}

TEST(TreeReport, DeepTreesNeedNoDeepStack) {
  std::vector<std::string> names(20'000, "f");
  const FrameProfile p = frames_of({{names, 5}});
  const FlameTree tree = build_flame_tree(p, TreeDirection::kTopDown);
  ReportOptions options;
  options.max_rows = 10;
  EXPECT_THAT(tree_report(header_of(p), tree, heaviest_nodes(tree, options),
                          TreeDirection::kTopDown, options),
              HasSubstr("… 1 more, 100.0 %"));
}

TEST(DiffReport, MarksNewAndVanishedFunctions) {
  FrameProfile p = frames_of({{{"main", "gone"}, 5}, {{"main", "new"}, 7}});
  p.has_baseline = true;
  std::swap(p.weights[0].value, p.weights[0].baseline);
  p.baseline_total = 5;
  p.total = 7;
  const std::string text = diff_report(header_of(p), diff_table(p), {});
  EXPECT_THAT(text, HasSubstr("new"));
  EXPECT_THAT(text, HasSubstr("gone"));
  EXPECT_THAT(text, HasSubstr("Total: 5ns before, 7ns after, +2ns (+40.00%)"));
}

}  // namespace
}  // namespace vesta
