#include "config/show.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/field.h"
#include "config/yaml.h"

namespace vesta::config {
namespace {

using ::testing::HasSubstr;

Node tree() {
  Node root;
  root.below("a").below("rate") = Node::of_word("99", false);
  root.below("a").below("empty") = Node::of_word("");
  root.below("a").below("words") = Node::of_list({Node::of_word("x.*"), Node::of_word("true")});
  Node item;
  item.below("type") = Node::of_word("otlp");
  item.below("headers").below("X-A") = Node::of_word("***");
  root.below("list") = Node::of_list({item, item});
  root.below("none") = Node::of_list({});
  return root;
}

const Origins kOrigins = {{"a.rate", {Source::kFile, "f.yaml", {4, 2}, {}}},
                          {"list[1].type", {Source::kEnvironment, "VESTA_X", {}, {}}}};

TEST(Show, SaysWhereEachValueCameFrom) {
  EXPECT_EQ(show_yaml(tree(), kOrigins), R"(a:
  rate: 99                # f.yaml:4
  empty: ""               # default
  words: ["x.*", "true"]  # default
list:
  - type: otlp            # default
    headers:
      X-A: "***"          # default
  - type: otlp            # VESTA_X
    headers:
      X-A: "***"          # default
none: []                  # default
)");
}

TEST(Starter, HasEveryKeyCommentedOutWithItsType) {
  Field rate;
  rate.key = "a.rate";
  rate.type = "number";
  rate.show = [] { return Node::of_word("99", false); };
  Field top;
  top.key = "top";
  top.type = "text";
  top.show = [] { return Node::of_word(""); };
  EXPECT_EQ(starter_yaml({rate, top}), R"(a:
  # rate: 99  # number
# top: ""     # text
)");
}

TEST(Show, YamlReadsBackAsTheSame) {
  const std::string text = show_yaml(tree(), kOrigins);
  const auto document = parse_yaml(text, "shown");
  ASSERT_TRUE(document.ok()) << document.error().message;
  EXPECT_EQ(document->root.find("a")->find("words")->items[1].word, "true");
  EXPECT_EQ(document->root.find("list")->items[1].find("headers")->find("X-A")->word, "***");
}

TEST(Show, JsonHasOneEntryForEachSetting) {
  const std::string json = show_json(tree(), kOrigins);
  EXPECT_THAT(json, HasSubstr("\"key\": \"a.rate\""));
  EXPECT_THAT(json, HasSubstr("\"value\": 99"));
  EXPECT_THAT(json, HasSubstr("\"line\": 4"));
  EXPECT_THAT(json, HasSubstr("\"key\": \"list[1].headers.X-A\""));
}

}  // namespace
}  // namespace vesta::config
