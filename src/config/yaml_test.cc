#include "config/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vesta::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string problem_with(std::string_view text) {
  const auto document = parse_yaml(text, "f.yaml");
  if (document) return "";
  EXPECT_EQ(document.error().code, ErrorCode::kUsage);
  return document.error().message + "; " + document.error().hint;
}

TEST(Yaml, KnowsThePlaceOfEachValue) {
  const auto document = parse_yaml("a:\n  b: [1, 'x']\n  c:\nd: &n {e: f}\ng: *n\n", "f.yaml");
  ASSERT_TRUE(document.ok()) << document.error().message;
  const Node* b = document->root.find("a")->find("b");
  ASSERT_EQ(b->items.size(), 2U);
  EXPECT_EQ(b->items[1].at.line, 2U);
  EXPECT_EQ(b->items[1].at.column, 10U);
  EXPECT_FALSE(b->items[0].is_text);
  EXPECT_TRUE(b->items[1].is_text);
  EXPECT_TRUE(document->root.find("a")->find("c")->is_nothing());
  EXPECT_EQ(document->root.find("a")->find("c")->at.line, 3U);
  EXPECT_EQ(document->root.find("g")->find("e")->word, "f");
}

TEST(Yaml, AnEmptyFileIsNothing) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n"}) {
    const auto document = parse_yaml(text, "f.yaml");
    ASSERT_TRUE(document.ok()) << text;
    EXPECT_TRUE(document->root.is_nothing()) << text;
  }
}

TEST(Yaml, RefusesWhatIsNoConfiguration) {
  EXPECT_THAT(problem_with("a: 1\nb: 2\na: 3\n"),
              AllOf(StartsWith("f.yaml:3:1: duplicate key 'a'"), HasSubstr("line 1")));
  EXPECT_THAT(problem_with("a:\n\tb: 1\n"),
              StartsWith("f.yaml:2:1: the line is indented with a tab"));
  EXPECT_THAT(problem_with("a:\n  \t- 1\n"), StartsWith("f.yaml:2:3: the line is indented"));
  EXPECT_EQ(problem_with("a:\n\t# a comment\n  b: 1\t# another\n"), "");
  EXPECT_THAT(problem_with("a: {\n"), StartsWith("f.yaml:"));
  EXPECT_THAT(problem_with("a: \"x"), HasSubstr("not YAML"));
  EXPECT_THAT(problem_with("[a]: 1\n"), HasSubstr("a key must be a plain value"));
  EXPECT_THAT(problem_with("\"a\\nb\": 1\n"), HasSubstr("a key must be a plain value"));
  EXPECT_THAT(problem_with("? " + std::string(500, 'x') + "\n: 1\n"), HasSubstr("up to 400 bytes"));
  EXPECT_THAT(problem_with("a: !python/object x\n"), HasSubstr("tag"));
  EXPECT_THAT(problem_with("a: 1\n---\nb: 1\n"), HasSubstr("multiple documents"));
  EXPECT_THAT(problem_with("a: *b\n"), HasSubstr("not YAML"));
  EXPECT_THAT(problem_with("a: &x [*x]\n"), HasSubstr("an alias refers to itself"));
}

TEST(Yaml, BoundsDepthAndSize) {
  EXPECT_THAT(problem_with(std::string(100'000, '[')), HasSubstr("nested too deeply"));
  EXPECT_THAT(problem_with("a: " + std::string(100'000, '{')), HasSubstr("nested too deeply"));
  std::string dashes;
  for (int i = 0; i < 1000; ++i) dashes += "- ";
  EXPECT_THAT(problem_with(dashes + "1\n"), HasSubstr("nested too deeply"));
  EXPECT_THAT(problem_with(std::string(5 << 20, ' ')),
              HasSubstr("exceed the limit of a configuration file"));
}

TEST(Yaml, AnAliasCountsAsWhatItStandsFor) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j > 0 ? ", *a" : "*a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_THAT(problem_with(bomb), HasSubstr("the configuration is too large"));
  std::string chain = "a0: &a0 [x]\n";
  for (int i = 1; i < 100; ++i) {
    chain += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) +
             "]\n";
  }
  EXPECT_THAT(problem_with(chain), HasSubstr("nested too deeply"));
  std::string long_word = "a: &a \"" + std::string(1 << 20, 'x') + "\"\nb: [*a";
  for (int i = 0; i < 100; ++i) long_word += ", *a";
  EXPECT_THAT(problem_with(long_word + "]\n"), HasSubstr("the configuration is too large"));
}

TEST(Yaml, AFileThatIsNotThereIsNamed) {
  const auto document = load_yaml("/nonexistent/vesta.yaml");
  ASSERT_FALSE(document.ok());
  EXPECT_THAT(document.error().message, HasSubstr("/nonexistent/vesta.yaml"));
}

}  // namespace
}  // namespace vesta::config
