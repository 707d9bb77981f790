#include "formats/flamegraph/flamegraph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/utf8.h"
#include "formats/flamegraph/flame_layout.h"
#include "formats/flamegraph/flame_text.h"
#include "formats/flamegraph/folded_sample.h"
#include "formats/flamegraph/xml_check.h"

namespace vesta {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

FrameProfile profile_of(std::string_view folded, std::string_view baseline = {}) {
  FoldedSample sample;
  if (!baseline.empty()) sample.add(baseline, true);
  sample.add(folded);
  return sample.profile();
}

CallTree tree_of(const FrameProfile& profile, TreeDirection direction = TreeDirection::kTopDown) {
  return build_call_tree(profile, direction, ChildOrder::kByTotal);
}

std::string svg_of(const FrameProfile& profile, const FlamegraphOptions& options = {}) {
  return write_flamegraph_svg(profile, tree_of(profile), options);
}

std::string html_of(const FrameProfile& profile, const FlamegraphOptions& options = {}) {
  return write_flamegraph_html(profile, tree_of(profile), options);
}

size_t count_of(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

constexpr std::string_view kHostile =
    "main;</script><script>alert(1)</script> 1\n"
    "main;]]><x> 2\n"
    "main;\"quoted' & more\" 3\n"
    "main;\xE2\x80\xAEgnirts 4\n"
    "main;bad\xFFutf8\xC0 5\n"
    "main;<!-- {{data}} 6\n"
    "main;\x01\x7F control 7\n";

TEST(FlamegraphTest, HostileNamesLeaveTheSvgWellFormed) {
  FlamegraphOptions options;
  options.title = "<svg onload='x'> & ]]>";
  const std::string svg = svg_of(profile_of(kHostile, "main;</title> 3"), options);
  EXPECT_EQ(xml_problem(svg), "");
  EXPECT_TRUE(is_valid_utf8(svg));
  EXPECT_THAT(svg, Not(HasSubstr("<svg onload")));
  EXPECT_EQ(count_of(svg, "<script>"), 1u);
}

TEST(FlamegraphTest, HostileNamesCannotEndTheScriptsOfThePage) {
  FlamegraphOptions options;
  options.title = "</title><script>alert(1)</script>{{script}}";
  const std::string html = html_of(profile_of(kHostile), options);
  EXPECT_TRUE(is_valid_utf8(html));
  EXPECT_EQ(count_of(html, "</script"), 2u);
  EXPECT_EQ(count_of(html, "<script"), 2u);
  EXPECT_EQ(count_of(html, "</title"), 1u);
  EXPECT_THAT(html, Not(HasSubstr("<!--")));
  EXPECT_THAT(html, HasSubstr("\\u003c!-- {{data}}"));  // a name, not a mark to fill in
}

TEST(FlamegraphTest, BidirectionalAndControlCharactersAreSpeltOut) {
  EXPECT_EQ(visible_text("a\xE2\x80\xAE"
                         "b\n\x01"),
            "a\\u{202E}b\\u{000A}\\u{0001}");
  EXPECT_EQ(visible_text("\xD7\x90\xF0\x9F\x94\xA5"), "\xD7\x90\xF0\x9F\x94\xA5");
  EXPECT_EQ(visible_text("\xEF\xBF\xBF"), "\\u{FFFF}");
  EXPECT_THAT(html_of(profile_of(kHostile)), Not(HasSubstr("\xE2\x80\xAE")));
}

TEST(FlamegraphTest, BoxesStayInTheirParentsAndTheRootIsTheTotal) {
  const FrameProfile profile = profile_of("a;b;c 5\na;b 3\na;d 4\ne 8");
  const CallTree tree = tree_of(profile);
  const std::vector<FlameBox> boxes = lay_out_boxes(tree);
  ASSERT_EQ(boxes.size(), tree.nodes.size());
  EXPECT_EQ(boxes[0].extent, 20);
  std::vector<double> used(boxes.size(), 0);
  for (size_t i = 1; i < boxes.size(); ++i) {
    const FlameBox& parent = boxes[boxes[i].parent];
    EXPECT_EQ(boxes[i].extent, static_cast<double>(tree.nodes[boxes[i].node].total));
    EXPECT_EQ(boxes[i].start, parent.start + used[boxes[i].parent]);
    EXPECT_EQ(boxes[i].depth, parent.depth + 1);
    used[boxes[i].parent] += boxes[i].extent;
    EXPECT_LE(used[boxes[i].parent], parent.extent);
  }
}

TEST(FlamegraphTest, VanishedFramesKeepAPlaceInADifference) {
  const FrameProfile profile = profile_of("main;new 6\nmain;same 10", "main;old 8\nmain;same 10");
  const std::vector<FlameBox> boxes = lay_out_boxes(tree_of(profile));
  // 6 + 8 + 10 stand side by side, though either side has less in all.
  EXPECT_EQ(boxes[0].extent, 24);
  const std::string svg = svg_of(profile);
  EXPECT_EQ(xml_problem(svg), "");
  EXPECT_THAT(svg, HasSubstr(">[new] new</text>"));
  EXPECT_THAT(svg, HasSubstr(">[gone] old</text>"));
  EXPECT_THAT(svg, HasSubstr("old (before 8ns, 44.44%; after 0, 0%; change gone)"));
}

TEST(FlamegraphTest, MoreIsRedAndLessIsBlue) {
  const std::string svg = svg_of(profile_of("main;up 30\nmain;down 10\nmain;same 10",
                                            "main;up 10\nmain;down 30\nmain;same 10"));
  EXPECT_THAT(svg, HasSubstr("change +200.00%)</title><rect class=\"c10\""));
  EXPECT_THAT(svg, HasSubstr("change -66.67%)</title><rect class=\"c0\""));
  EXPECT_THAT(svg, HasSubstr("change ±0%)</title><rect class=\"c5\""));
  EXPECT_THAT(svg, HasSubstr("id=\"legend\""));
  EXPECT_THAT(svg, HasSubstr("before 50ns · after 50ns · change ±0%"));
}

TEST(FlamegraphTest, FramesTooNarrowToDrawAreCounted) {
  std::string folded = "main;wide 1000000\n";
  for (int i = 0; i < 50; ++i) folded += "main;f" + std::to_string(i) + ";leaf 10\n";
  const std::string svg = svg_of(profile_of(folded));
  EXPECT_THAT(svg, HasSubstr("100 frames under 0.1 px not drawn (0.05% of the width)"));
  EXPECT_THAT(svg, Not(HasSubstr(">f7 (")));

  FlamegraphOptions all;
  all.min_width_px = 0;
  const std::string full = svg_of(profile_of(folded), all);
  EXPECT_THAT(full, Not(HasSubstr("not drawn (0")));
  EXPECT_EQ(count_of(full, "<g><title>"), 103u);
}

TEST(FlamegraphTest, FilteredProfilesHaveSharesOfTheWhole) {
  FrameProfile profile = profile_of("main;work 25");
  profile.total = 100;  // the rest did not pass the filters
  EXPECT_THAT(svg_of(profile), HasSubstr("work (25ns, 25.00%)"));
  EXPECT_THAT(svg_of(profile), HasSubstr("shown 25ns (25.00%)"));
}

TEST(FlamegraphTest, KernelFramesAreMarkedInWords) {
  EXPECT_THAT(svg_of(profile_of("main;sys_read_[k] 5")), HasSubstr(">sys_read [k]</text>"));
}

TEST(FlamegraphTest, LossesAndDurationAreShown) {
  FrameProfile profile = profile_of("main 5");
  profile.losses = {{"ring full", 1234}, {"stack <truncated>", 2}};
  profile.duration_ns = 30'000'000'000;
  const std::string svg = svg_of(profile);
  EXPECT_THAT(svg, HasSubstr("Not complete: 1,234 × ring full · 2 × stack &lt;truncated&gt;"));
  EXPECT_THAT(svg, HasSubstr("cpu in nanoseconds · total 5ns · over 30s"));
  EXPECT_THAT(html_of(profile), HasSubstr("1,234 × ring full"));
}

TEST(FlamegraphTest, FlameDirectionPutsTheRootAtTheBottom) {
  const FrameProfile profile = profile_of("main;work 5");
  FlamegraphOptions options;
  const std::string icicle = svg_of(profile, options);
  options.direction = FlameDirection::kFlame;
  const std::string flame = svg_of(profile, options);
  const auto y_of = [](const std::string& svg, std::string_view name) {
    const size_t at = svg.find(" y=\"", svg.find(std::string("<title>").append(name)));
    return std::stoi(svg.substr(at + 4));
  };
  EXPECT_LT(y_of(icicle, "all ("), y_of(icicle, "work ("));
  EXPECT_GT(y_of(flame, "all ("), y_of(flame, "work ("));
}

TEST(FlamegraphTest, InvertedTreesAreDrawnAsGivenAndSaidToBe) {
  const FrameProfile profile = profile_of("main;work 5");
  FlamegraphOptions options;
  options.inverted = true;
  const CallTree tree = tree_of(profile, TreeDirection::kBottomUp);
  const std::string svg = write_flamegraph_svg(profile, tree, options);
  EXPECT_LT(svg.find("<title>work"), svg.find("<title>main"));
  EXPECT_THAT(svg, HasSubstr("Inverted"));
  // The page computes both directions from the same nodes.
  FlamegraphOptions plain;
  const std::string inverted = write_flamegraph_html(profile, tree, options);
  const std::string upright = html_of(profile, plain);
  const auto nodes = [](const std::string& html) {
    return html.substr(html.find("\"nodes\":"), 40);
  };
  EXPECT_EQ(nodes(inverted), nodes(upright));
  EXPECT_THAT(inverted, HasSubstr("\"inverted\":true"));
}

TEST(FlamegraphTest, ExtremeProfilesAreDrawn) {
  const std::vector<std::vector<int64_t>> cases = {
      {}, {0}, {INT64_MAX, 5}, {-5, 3}, {INT64_MIN, INT64_MIN}};
  for (const std::vector<int64_t>& values : cases) {
    FrameProfile profile = profile_of("a 1\nb 1");
    profile.weights.clear();
    profile.total = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      profile.weights.push_back({FrameStackId(i + 1), {}, values[i], 0});
      profile.total = values[i];
    }
    EXPECT_EQ(xml_problem(svg_of(profile)), "");
    EXPECT_THAT(html_of(profile), HasSubstr("\"nodes\":"));
  }
}

TEST(FlamegraphTest, DeepStacksAreDrawn) {
  std::string folded = "f0";
  for (int i = 1; i < 4096; ++i) folded += ";f" + std::to_string(i);
  const FrameProfile profile = profile_of(folded + " 1");
  EXPECT_EQ(count_of(svg_of(profile), "<g><title>"), 4097u);
  EXPECT_THAT(html_of(profile), HasSubstr("\"nodeCount\":4097"));
}

TEST(FlamegraphTest, SameInputGivesSameBytes) {
  const std::string_view folded = "a;b 5\na;c_[k] 7\nx::y;z 1";
  EXPECT_EQ(svg_of(profile_of(folded)), svg_of(profile_of(folded)));
  EXPECT_EQ(html_of(profile_of(folded)), html_of(profile_of(folded)));
}

TEST(FlamegraphTest, NodesAreVarintsInPreOrder) {
  // all: ref 0, self 0; main: 0 up, ref 1<<1, self 0; work: 0 up, ref 2<<1, self 5 -> zigzag 10;
  // idle: 1 up (a sibling), ref 3<<1, self 3 -> 6
  EXPECT_THAT(html_of(profile_of("main;work 5\nmain;idle 3")),
              HasSubstr("\"nodes\":\"" +
                        base64_encode(std::string_view("\0\0\0\2\0\0\4\12\1\6\6", 11)) + "\""));
}

TEST(FlamegraphTest, ThePageForbidsEverythingButItsOwnScript) {
  const std::string html = html_of(profile_of("main 1"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(html, Not(HasSubstr("unsafe-inline")));
  EXPECT_THAT(html, Not(HasSubstr("http://")));
  EXPECT_THAT(html, Not(HasSubstr("https://")));
  EXPECT_EQ(csp_hash("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

}  // namespace
}  // namespace vesta
