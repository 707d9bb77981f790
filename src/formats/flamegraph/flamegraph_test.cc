#include "formats/flamegraph/flamegraph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/leb128.h"
#include "base/utf8.h"
#include "formats/flamegraph/flame_columns.h"
#include "formats/flamegraph/flame_layout.h"
#include "formats/flamegraph/flame_text.h"
#include "formats/flamegraph/folded_sample.h"
#include "formats/flamegraph/xml_check.h"

namespace vesta {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

FrameProfile profile_of(std::string_view folded, std::string_view baseline = {}) {
  FoldedSample sample;
  if (!baseline.empty()) sample.add(baseline, true);
  sample.add(folded);
  return sample.profile();
}

FlameTree tree_of(const FrameProfile& profile) {
  return build_flame_tree(profile, TreeDirection::kTopDown);
}

std::string svg_of(const FrameProfile& profile, const FlamegraphOptions& options = {}) {
  return write_flamegraph_svg(header_of(profile), tree_of(profile), options);
}

std::string html_of(const FrameProfile& profile, const FlamegraphOptions& options = {}) {
  return write_flamegraph_html(header_of(profile), tree_of(profile), options);
}

// The profile inside a page, see docs/formats/flame-columns.md.
std::string columns_in(std::string_view html) {
  constexpr std::string_view kBefore = "<script id=\"profile\" type=\"text/plain\">";
  const size_t begin = html.find(kBefore) + kBefore.size();
  const std::string_view text = html.substr(begin, html.find('<', begin) - begin);
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text.substr(0, text.find('='))) {
    bits = bits << 6 | static_cast<uint32_t>(kDigits.find(c));
    count += 6;
    if (count >= 8) out.push_back(static_cast<char>(bits >> (count -= 8)));
  }
  return out;
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
  EXPECT_THAT(columns_in(html), HasSubstr("<!-- {{data}}"));  // a name, not a mark to fill in
}

TEST(FlamegraphTest, BidirectionalAndControlCharactersAreSpeltOut) {
  EXPECT_EQ(visible_text("a\xE2\x80\xAE"
                         "b\n\x01"),
            "a\\u{202E}b\\u{000A}\\u{0001}");
  EXPECT_EQ(visible_text("\xD7\x90\xF0\x9F\x94\xA5"), "\xD7\x90\xF0\x9F\x94\xA5");
  EXPECT_EQ(visible_text("\xEF\xBF\xBF"), "\\u{FFFF}");
}

TEST(FlamegraphTest, BoxesStayInTheirParentsAndTheRootIsTheTotal) {
  const FrameProfile profile = profile_of("a;b;c 5\na;b 3\na;d 4\ne 8");
  const FlameTree tree = tree_of(profile);
  const std::vector<FlameBox> boxes = lay_out_boxes(tree);
  ASSERT_EQ(boxes.size(), tree.size());
  EXPECT_EQ(boxes[0].extent, 20);
  std::vector<double> used(boxes.size(), 0);
  for (size_t i = 1; i < boxes.size(); ++i) {
    const FlameBox& parent = boxes[boxes[i].parent];
    EXPECT_EQ(boxes[i].extent, static_cast<double>(tree.weights.total[boxes[i].node]));
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
  EXPECT_THAT(columns_in(html_of(profile)), HasSubstr("1,234 × ring full"));
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

TEST(FlamegraphTest, InvertedPicturesBeginAtTheLeavesAndSaySo) {
  const FrameProfile profile = profile_of("main;work 5");
  FlamegraphOptions options;
  options.inverted = true;
  const std::string svg = svg_of(profile, options);
  EXPECT_LT(svg.find("<title>work"), svg.find("<title>main"));
  EXPECT_THAT(svg, HasSubstr("Inverted"));
  // The page computes both directions from the same nodes.
  FlamegraphOptions plain;
  const std::string inverted = columns_in(html_of(profile, options));
  const std::string upright = columns_in(html_of(profile, plain));
  const auto nodes = [](const std::string& columns) {
    return columns.substr(columns.find("\4main"));
  };
  EXPECT_EQ(nodes(inverted), nodes(upright));
  EXPECT_THAT(inverted, HasSubstr("\"inverted\":true"));
  EXPECT_THAT(upright, HasSubstr("\"inverted\":false"));
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
    EXPECT_THAT(columns_in(html_of(profile)), StartsWith("VFC1"));
  }
}

TEST(FlamegraphTest, DeepStacksAreDrawn) {
  std::string folded = "f0";
  for (int i = 1; i < 4096; ++i) folded += ";f" + std::to_string(i);
  const FrameProfile profile = profile_of(folded + " 1");
  EXPECT_EQ(count_of(svg_of(profile), "<g><title>"), 4097u);
  std::string count;
  put_varint(count, 4097);
  EXPECT_THAT(columns_in(html_of(profile)), HasSubstr(count + "\x80\x20"));  // then 4096 pops
}

TEST(FlamegraphTest, SameInputGivesSameBytes) {
  const std::string_view folded = "a;b 5\na;c_[k] 7\nx::y;z 1";
  EXPECT_EQ(svg_of(profile_of(folded)), svg_of(profile_of(folded)));
  EXPECT_EQ(html_of(profile_of(folded)), html_of(profile_of(folded)));
}

TEST(FlamegraphTest, ThePageHoldsTheTreeAsColumns) {
  const std::string columns = columns_in(html_of(profile_of("main;work 5\nmain;idle_[i] 3")));
  EXPECT_THAT(columns, StartsWith("VFC1"));
  // total, main, idle and below main again work: pops, names, self (zig-zag), nothing cut, inlined
  const std::string_view nodes("\4\3\0\0\1\4\0\1\2\3\4\0\0\6\12\0\0\4\0\0\1\0", 22);
  EXPECT_TRUE(columns.ends_with(nodes)) << base64_encode(columns);
  EXPECT_THAT(columns, HasSubstr("\"inlined\":true"));
}

TEST(FlameColumnsTest, SayWhatWasCutAndWhatWasBefore) {
  FoldedSample sample;
  sample.add("f 2\nf;g 5", true);
  sample.add("f -1\nf;g 4");
  FrameProfile profile = sample.profile();
  Frame& f = profile.frames[1];
  f.file = f.name;
  f.line = 7;
  f.kind = FrameKind::kGo;
  const FlameTree tree = tree_of(profile);
  constexpr char kExpected[] =
      "VFC1\2{}"
      "\2\0\1f"                  // strings
      "\2\0\0\0\0\0\1\1\0\16\3"  // names
      "\2\1\0\2\0\1"             // nodes: pops, names
      "\2\0\1\2\0\1\2\0\10"      // self, cut nodes, cut
      "\2\0\4\2\0\12";           // before
  EXPECT_EQ(write_flame_columns("{}", tree, prune(tree, std::vector<uint8_t>{1, 1, 0})),
            std::string_view(kExpected, sizeof(kExpected) - 1));
}

TEST(FlamegraphTest, ThePageForbidsEverythingButItsOwnScript) {
  const std::string html = html_of(profile_of("main 1"));
  EXPECT_THAT(html, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(html, Not(HasSubstr("unsafe-inline")));
  // The script names the namespaces of SVG and MathML, which nobody loads.
  EXPECT_EQ(count_of(html, "http://"), count_of(html, "http://www.w3.org/"));
  EXPECT_THAT(html, Not(HasSubstr("https://")));
  EXPECT_EQ(csp_hash("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

}  // namespace
}  // namespace vesta
