#include "formats/flamebearer/flame_encoding.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>

#include "formats/protobuf/wire.h"
#include "reports/selection_tree.h"
#include "server/pyroscope/test_server.h"
#include "store/selection.h"

namespace vesta::server {
namespace {

using test::kCpuType;
using test::SampleSpec;

Selection selection_of(const std::vector<SampleSpec>& samples) {
  const auto engine = make_memory_engine();
  const auto receipt =
      engine->write("t", vesta::test::batch_of({test::profile_of("a", 0, samples)}), {});
  EXPECT_TRUE(receipt);
  SelectRequest request;
  request.type = vesta::test::type_of(kCpuType);
  request.range = kAllTime;
  auto selections = engine->select("t", request);
  EXPECT_TRUE(selections);
  return std::move(selections->at(0));
}

struct Weight {
  int64_t total = 0;
  int64_t self = 0;
  friend bool operator==(const Weight&, const Weight&) = default;
};
using Paths = std::map<std::string, Weight>;  // "main;work"; "" is the root

// What the samples say, path by path.
Paths paths_of(const std::vector<SampleSpec>& samples) {
  Paths paths;
  paths[""];
  for (const SampleSpec& sample : samples) {
    paths[""].total += sample.value;
    for (size_t end = 0; end != std::string::npos;) {
      end = sample.stack.find(';', end + 1);
      paths[sample.stack.substr(0, end)].total += sample.value;
    }
    paths[sample.stack].self += sample.value;
  }
  return paths;
}

std::string below(const std::string& path, const std::string& name) {
  return path.empty() ? name : fmt::format("{};{}", path, name);
}

// As Grafana reads levels: bars go to the bar of the level above that holds them, left to right.
// `side` 0 is the only one or the left, 1 the right.
Paths decode(const FlameBars& bars, const FlameLevels& levels, size_t side = 0) {
  const size_t width = bars.is_comparison() ? 7 : 4;
  struct Bar {
    int64_t begin = 0;
    int64_t end = 0;
    std::string path;
  };
  // Both sides place a bar: one of them may have no width.
  std::vector<std::array<Bar, 2>> above;
  Paths paths;
  for (size_t depth = 0; depth < levels.levels.size(); ++depth) {
    const auto& level = levels.levels[depth];
    EXPECT_EQ(level.size() % width, 0U);
    std::vector<std::array<Bar, 2>> here;
    int64_t ends[2] = {0, 0};
    size_t parent = 0;
    for (size_t at = 0; at < level.size(); at += width) {
      std::array<Bar, 2> bar;
      for (size_t s = 0; s < (width == 7 ? 2U : 1U); ++s) {
        EXPECT_GE(level[at + s * 3], 0);
        bar[s].begin = ends[s] + level[at + s * 3];
        bar[s].end = ends[s] = bar[s].begin + level[at + s * 3 + 1];
      }
      const std::string& name = bars.names.at(static_cast<size_t>(level[at + width - 1]));
      std::string path;
      if (depth > 0) {
        const auto holds = [&](const std::array<Bar, 2>& outer) {
          for (size_t s = 0; s < 2; ++s) {
            if (bar[s].begin < outer[s].begin || bar[s].end > outer[s].end) return false;
          }
          return true;
        };
        while (parent < above.size() && !holds(above[parent])) ++parent;
        if (parent == above.size()) {
          ADD_FAILURE() << "no bar holds " << name << " on level " << depth;
          return paths;
        }
        const std::string& outer = above[parent][0].path;
        path = below(outer, name);
      } else {
        EXPECT_EQ(name, "total");
      }
      bar[0].path = path;
      here.push_back(bar);
      paths[path] = {level[at + side * 3 + 1], level[at + side * 3 + 2]};
    }
    above = std::move(here);
  }
  return paths;
}

Paths decode(const std::string& bytes) {
  Paths paths;
  struct Open {
    std::string path;
    uint64_t children = 0;
  };
  std::vector<Open> stack;
  size_t at = 0;
  const auto number = [&] {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes.at(at++));
      value |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.size()) {
    const size_t length = number();
    std::string path = bytes.substr(at, length);
    at += length;
    if (!stack.empty()) {
      EXPECT_GT(stack.back().children, 0U);
      --stack.back().children;
      path = below(stack.back().path, path);
    }
    const auto self = static_cast<int64_t>(number());
    const uint64_t children = number();
    paths[path].self = self;
    for (std::string up = path;;) {
      paths[up].total += self;
      if (up.empty()) break;
      const size_t cut = up.rfind(';');
      up = cut == std::string::npos ? "" : up.substr(0, cut);
    }
    stack.push_back({path, children});
    while (!stack.empty() && stack.back().children == 0) stack.pop_back();
  }
  EXPECT_TRUE(stack.empty());
  return paths;
}

FlameBars bars_of(const std::vector<SampleSpec>& samples, size_t max_nodes = 0) {
  return to_flame_bars(build_flame_tree(selection_of(samples), {}), max_nodes);
}

const std::vector<SampleSpec> kSamples = {{"main;a", 3},  {"main;a;b", 5}, {"main;c", 2},
                                          {"other;x", 7}, {"main", 1},     {"main;c;b;b", 4}};

TEST(FlameEncodingTest, HasTheNumbersThatTheFormatSays) {
  const FlameBars bars = bars_of({{"a;b", 1}, {"a;c", 2}, {"d", 4}});
  const FlameLevels levels = to_levels(bars);
  EXPECT_EQ(bars.names, (std::vector<std::string>{"total", "a", "d", "b", "c"}));
  EXPECT_EQ(levels.levels, (std::vector<std::vector<int64_t>>{
                               {0, 7, 0, 0}, {0, 3, 0, 1, 0, 4, 4, 2}, {0, 1, 1, 3, 0, 2, 2, 4}}));
  EXPECT_EQ(levels.total, 7);
  EXPECT_EQ(levels.max_self, 4);
}

TEST(FlameEncodingTest, LevelsReadBackAsTheTree) {
  const FlameBars bars = bars_of(kSamples);
  EXPECT_EQ(decode(bars, to_levels(bars)), paths_of(kSamples));
}

TEST(FlameEncodingTest, TreeBytesReadBackAsTheTree) {
  EXPECT_EQ(decode(to_tree_bytes(bars_of(kSamples))), paths_of(kSamples));
  EXPECT_EQ(to_tree_bytes(bars_of({})), "");
  // The example of the format, children last to first.
  EXPECT_EQ(to_tree_bytes(bars_of({{"a;b", 1}, {"a;c", 2}})), std::string("\x00\x00\x01"
                                                                          "\x01"
                                                                          "a\x00\x02"
                                                                          "\x01"
                                                                          "c\x02\x00"
                                                                          "\x01"
                                                                          "b\x01\x00",
                                                                          15));
}

TEST(FlameEncodingTest, AnEmptyTreeIsOneBar) {
  const FlameBars bars = bars_of({});
  EXPECT_EQ(to_levels(bars).levels, (std::vector<std::vector<int64_t>>{{0, 0, 0, 0}}));
}

TEST(FlameEncodingTest, WhatIsCutJoinsAFunctionNamedOther) {
  const FlameBars bars = bars_of({{"m;other", 5}, {"m;other;x", 5}, {"m;y", 1}, {"m;z", 2}}, 3);
  const Paths paths = decode(bars, to_levels(bars));
  EXPECT_EQ(paths.at("m;other"), (Weight{13, 8}));
  EXPECT_EQ(paths.at("m;other;x"), (Weight{5, 5}));
  EXPECT_EQ(paths.size(), 4U);
}

TEST(FlameEncodingTest, KeepsToTheBudgetWhenAllAreEqual) {
  std::vector<SampleSpec> samples;
  samples.reserve(100);
  for (int i = 0; i < 100; ++i) samples.push_back({"f" + std::to_string(i), 1});
  const FlameBars bars = bars_of(samples, 10);
  EXPECT_EQ(bars.bars.size(), 12U);  // the root and `other` besides
  EXPECT_EQ(decode(bars, to_levels(bars)).at("other"), (Weight{90, 90}));
}

std::vector<SampleSpec> random_samples(std::mt19937& random) {
  std::vector<SampleSpec> samples;
  const size_t count = random() % 60;
  for (size_t i = 0; i < count; ++i) {
    std::string stack;
    for (size_t depth = random() % 6; depth + 1 > 0; --depth) {
      if (!stack.empty()) stack += ';';
      stack += random() % 9 == 0 ? "other" : std::string(1, static_cast<char>('a' + random() % 4));
      if (depth == 0) break;
    }
    samples.push_back({stack, static_cast<int64_t>(random() % 20)});
  }
  return samples;
}

// Every bar of a function is exact, unless what was cut has joined it; nothing is lost.
void expect_cut_of(const Paths& drawn, const Paths& exact) {
  EXPECT_EQ(drawn.at("").total, exact.at("").total);
  int64_t selves = 0;
  for (const auto& [path, weight] : drawn) {
    selves += weight.self;
    const bool may_have_joined = path == "other" || path.ends_with(";other");
    if (may_have_joined) continue;
    EXPECT_EQ(weight, exact.at(path)) << path;
  }
  EXPECT_EQ(selves, exact.at("").total);
}

TEST(FlameEncodingTest, ConservesTotalsWhateverIsCut) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto samples = random_samples(random);
    const Selection selection = selection_of(samples);
    const Paths exact = paths_of(samples);
    for (const size_t budget : {1U, 2U, 5U, 20U, 0U}) {
      const FlameBars bars = to_flame_bars(build_flame_tree(selection, {}), budget);
      expect_cut_of(decode(bars, to_levels(bars)), exact);
      if (exact.at("").total > 0) expect_cut_of(decode(to_tree_bytes(bars)), exact);
      const auto functions = static_cast<size_t>(std::ranges::count_if(
          bars.bars, [&](const FlameBar& bar) { return bars.names[bar.name] != "other"; }));
      EXPECT_LE(functions, budget == 0 ? bars.bars.size() : budget + 1);
    }
  }
}

TEST(FlameEncodingTest, BothSidesOfAComparisonReadBack) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    const auto before = random_samples(random);
    const auto after = random_samples(random);
    const FlameTree tree =
        build_flame_tree(selection_of(before), selection_of(after), CompareScale::kAbsolute, {});
    for (const size_t budget : {3U, 0U}) {
      const FlameBars bars = to_flame_bars(tree, budget);
      const FlameLevels levels = to_levels(bars);
      Paths left = paths_of(before);
      Paths right = paths_of(after);
      EXPECT_EQ(levels.left_total, left.at("").total);
      EXPECT_EQ(levels.right_total, right.at("").total);
      EXPECT_EQ(levels.total, left.at("").total + right.at("").total);
      // A node of one side is there on the other with nothing.
      for (const auto& [path, weight] : paths_of(before)) right.try_emplace(path);
      for (const auto& [path, weight] : paths_of(after)) left.try_emplace(path);
      expect_cut_of(decode(bars, levels, 0), left);
      expect_cut_of(decode(bars, levels, 1), right);
    }
  }
}

TEST(FlameEncodingTest, NamesAreValidUtf8) {
  const FlameBars bars = bars_of({{"a\xFF", 1}});
  EXPECT_EQ(bars.names.at(1), "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace vesta::server
