#include "base/json_reader.h"

#include <gtest/gtest.h>

#include <string>

namespace vesta {
namespace {

JsonTree tree_of(std::string_view text) {
  auto tree = JsonTree::parse(text);
  EXPECT_TRUE(tree.ok()) << tree.error().message;
  return std::move(tree).value();
}

std::string repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(JsonReader, GivesValuesAlongAPath) {
  const JsonTree tree = tree_of(R"({"a": {"b": [{"c": "x"}, {"c": "y"}], "n": -12, "r": 12.0}})");
  const Json a = tree.root()["a"];
  const auto list = a["b"].list();
  ASSERT_TRUE(list.ok());
  ASSERT_EQ(list->size(), 2U);
  EXPECT_EQ((*list)[1]["c"].text().value_or(""), "y");
  EXPECT_EQ(a["n"].integer().value_or(0), -12);
  EXPECT_EQ(a["r"].integer().value_or(0), 12);
  const auto fields = a.fields();
  ASSERT_TRUE(fields.ok());
  ASSERT_EQ(fields->size(), 3U);
  EXPECT_EQ((*fields)[1].first, "n");
  EXPECT_EQ((*fields)[1].second.integer().value_or(0), -12);
}

TEST(JsonReader, ShortTextsAreThoseWithinABound) {
  const JsonTree tree = tree_of(R"({"text": "four", "number": 4, "yes": true})");
  const Json root = tree.root();
  EXPECT_EQ(root["text"].short_text(4), "four");
  EXPECT_EQ(root["text"].short_text(3), "");
  EXPECT_EQ(root["number"].short_text(4), "");
  EXPECT_EQ(root["none"].short_text(4), "");
  EXPECT_TRUE(root["yes"].boolean().value_or(false));
  EXPECT_EQ(root["text"].boolean().error().message, "field 'text' must be true or false");
}

TEST(JsonReader, ErrorsNameTheField) {
  const JsonTree tree =
      tree_of(R"({"list": [1, "two"], "real": 1.5, "large": 18446744073709551615})");
  const Json root = tree.root();
  EXPECT_EQ(root["name"].text().error().message, "field 'name' is missing");
  EXPECT_EQ(root["name"]["of"]["it"].list().error().message, "field 'it' is missing");
  EXPECT_EQ(root["list"].text().error().message, "field 'list' must be a string");
  EXPECT_EQ(root["list"]["inner"].text().error().message, "field 'inner' is missing");
  const auto list = root["list"].list();
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->at(1).integer().error().message, "field 'list' must be an integer");
  EXPECT_EQ(root["real"].integer().error().message, "field 'real' must be an integer");
  EXPECT_EQ(root["large"].integer().error().message, "field 'large' must be an integer");
  EXPECT_EQ(root["real"].fields().error().message, "field 'real' must be an object");
  EXPECT_EQ(root.list().error().message, "the document must be a list");
}

TEST(JsonReader, ValuesStayWhereTheyAreWhenTheirTreeMoves) {
  JsonTree first = tree_of(R"({"a": "text that is long enough to be somewhere else"})");
  const Json a = first.root()["a"];
  const JsonTree second = std::move(first);
  EXPECT_EQ(a.text().value_or(""), "text that is long enough to be somewhere else");
}

TEST(JsonReader, WhatIsNotJsonIsAnError) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "nul", "[1] [2]"}) {
    const auto tree = JsonTree::parse(text);
    ASSERT_FALSE(tree.ok()) << text;
    EXPECT_EQ(tree.error().code, ErrorCode::kInvalidInput) << text;
    EXPECT_TRUE(tree.error().message.starts_with("not JSON")) << tree.error().message;
  }
}

TEST(JsonReader, SizeAndDepthHaveLimits) {
  EXPECT_TRUE(JsonTree::parse(repeated("[", 63) + repeated("]", 63)).ok());
  for (const size_t depth : {65, 1000, 100'000}) {
    const auto tree = JsonTree::parse(repeated("[", depth) + repeated("]", depth));
    ASSERT_FALSE(tree.ok()) << depth;
    EXPECT_EQ(tree.error().message, "JSON deeper than 64 levels");
  }
  // Also where the text is shorter than the smallest buffer.
  const auto small = JsonTree::parse("[[[[]]]]", {.max_depth = 3});
  ASSERT_FALSE(small.ok());
  EXPECT_EQ(small.error().code, ErrorCode::kLimit);
  EXPECT_TRUE(JsonTree::parse("[1,2,3]", {.max_bytes = 7}).ok());
  const auto large = JsonTree::parse("[1,2,3]", {.max_bytes = 6});
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.error().code, ErrorCode::kLimit);
}

TEST(JsonReader, InvalidTextIsReplacedAndAByteOrderMarkSkipped) {
  const JsonTree tree = tree_of("\xEF\xBB\xBF{\"a\": \"x\xFFy\"}");
  EXPECT_EQ(tree.root()["a"].text().value_or(""), "x\xEF\xBF\xBDy");
}

}  // namespace
}  // namespace vesta
