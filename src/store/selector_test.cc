#include "store/selector.h"

#include <gtest/gtest.h>

#include <string>

namespace vesta {
namespace {

TypedSelector parsed(std::string_view text) {
  auto result = parse_selector(text);
  EXPECT_TRUE(result.ok()) << text << ": " << (result.ok() ? "" : result.error().message);
  return result.ok() ? *result : TypedSelector{};
}

std::string error_of(std::string_view text) {
  const auto result = parse_selector(text);
  EXPECT_FALSE(result.ok()) << text;
  if (result.ok()) return "";
  EXPECT_EQ(result.error().code, ErrorCode::kUsage);
  return result.error().message;
}

// Printed again: says all that was understood.
std::string understood(std::string_view text) {
  const TypedSelector selector = parsed(text);
  return selector.type + to_string(selector.selector);
}

TEST(Selector, ReadsWhatPrometheusReads) {
  EXPECT_EQ(understood("{}"), "{}");
  EXPECT_EQ(understood(" { } "), "{}");
  EXPECT_EQ(understood(R"({a="b"})"), R"({a="b"})");
  EXPECT_EQ(understood(R"( { a = "b" , c!='d',e=~`f.*` , g !~ "h" , } )"),
            R"({a="b", c!="d", e=~"f.*", g!~"h"})");
  EXPECT_EQ(understood(R"({"a b"="c", 'größe'="x"})"), R"({"a b"="c", "größe"="x"})");
  EXPECT_EQ(understood(R"({service.name="x"})"), R"({"service.name"="x"})");
}

TEST(Selector, ReadsTheTypeBeforeTheBrace) {
  EXPECT_EQ(parsed("cpu{}").type, "cpu");
  EXPECT_EQ(parsed("cpu").type, "cpu");
  EXPECT_EQ(parsed(R"(off-cpu {a="b"})").type, "off-cpu");
  EXPECT_EQ(parsed(R"(process_cpu:cpu:nanoseconds:cpu:nanoseconds{a="b"})").type,
            "process_cpu:cpu:nanoseconds:cpu:nanoseconds");
  EXPECT_EQ(parsed("memory:alloc_in_new_tlab_objects:count::{}").type,
            "memory:alloc_in_new_tlab_objects:count::");
  EXPECT_EQ(understood(R"({"my type", a="b"})"), R"(my type{a="b"})");
}

TEST(Selector, ReadsEscapesOfGo) {
  EXPECT_EQ(parsed(R"({a="\a\b\f\n\r\t\v\\\"'"})").selector[0].value(), "\a\b\f\n\r\t\v\\\"'");
  EXPECT_EQ(parsed(R"({a='\'"'})").selector[0].value(), "'\"");
  EXPECT_EQ(parsed(R"({a="\101\x42\u00e9\U0001F600"})").selector[0].value(), "ABé😀");
  EXPECT_EQ(parsed(R"({a=`\d"'`})").selector[0].value(), R"(\d"')");
  EXPECT_EQ(parsed("{a=`b\nc`}").selector[0].value(), "b\nc");
  EXPECT_EQ(parsed(R"({a=~"\\d+"})").selector[0].value(), R"(\d+)");
}

TEST(Selector, SaysInWhichColumnItIsWrong) {
  EXPECT_EQ(error_of(R"({a="b" c="d"})"), "selector, column 8: expected ',' or '}', found 'c'");
  EXPECT_EQ(error_of(R"({a})"), "selector, column 3: expected one of = != =~ !~, found '}'");
  EXPECT_EQ(error_of(R"({a=b})"), "selector, column 4: expected a value in quotes, found 'b'");
  EXPECT_EQ(error_of(R"({a=)"), "selector, column 4: expected a value in quotes, found the end");
  EXPECT_EQ(error_of(R"({a!"b"})"), "selector, column 3: expected one of = != =~ !~, found '!'");
  EXPECT_EQ(error_of(R"({,})"), "selector, column 2: expected the name of a label, found ','");
  EXPECT_EQ(error_of(R"({1a="b"})"), "selector, column 2: expected the name of a label, found '1'");
  EXPECT_EQ(error_of(R"({a="b)"), "selector, column 4: unterminated string");
  EXPECT_EQ(error_of("{a=\"b\n\"}"), "selector, column 4: unterminated string");
  EXPECT_EQ(error_of(R"({a="\d"})"), "selector, column 5: unknown escape sequence");
  EXPECT_EQ(error_of(R"({a="b"} x)"), "selector, column 9: 'x' after the end of the selector");
  EXPECT_EQ(error_of(R"({a="b"}[5m])"), "selector, column 8: '[' after the end of the selector");
  EXPECT_EQ(error_of(R"(cpu mem{})"), "selector, column 5: expected '{', found 'm'");
  EXPECT_EQ(error_of(R"({größe="b"})"),
            "selector, column 4: expected one of = != =~ !~, found 'ö'");
  EXPECT_EQ(error_of(R"(cpu{"mem"})"), "selector, column 5: the type is given twice");
  EXPECT_EQ(error_of(R"({""="x"})"), "selector, column 2: the name of a label is empty");
  EXPECT_EQ(error_of(R"({"größe"="x", a=~"("})"),
            "selector, column 18: '(' is not a valid regular expression: missing ): (");
}

TEST(Selector, RefusesAnEmptyTextAndHugeOnes) {
  EXPECT_EQ(error_of(""), "the selector is empty");
  EXPECT_EQ(error_of("  "), "the selector is empty");
  EXPECT_NE(error_of("{a=\"" + std::string(100'000, 'x') + "\"}"), "");
  std::string many = "{";
  for (int i = 0; i < 129; ++i) many += "a=\"b\",";
  EXPECT_EQ(error_of(many + "}"), "selector, column 770: more than 128 matchers");
}

TEST(Selector, RefusesEscapesThatAreNoCharacter) {
  for (const std::string_view text :
       {R"({a="\ud800"})", R"({a="\U00110000"})", R"({a="\777"})", R"({a="\x4"})", R"({a="\18"})",
        R"({a="\'"})", R"({a='\"'})", R"({a="\)"}) {
    EXPECT_NE(error_of(text), "") << text;
  }
}

TEST(Selector, MatchesTheWholeValue) {
  const Selector selector = parsed(R"({a=~"b.*d"})").selector;
  EXPECT_TRUE(matches(selector, {{"a", "bcd"}}));
  EXPECT_TRUE(matches(selector, {{"a", "b\nd"}}));
  EXPECT_FALSE(matches(selector, {{"a", "xbcd"}}));
  EXPECT_FALSE(matches(selector, {{"a", "bcdx"}}));
}

TEST(Selector, TakesAMissingLabelForAnEmptyOne) {
  const Labels labels = {{"a", "b"}, {"c", "d"}};
  EXPECT_EQ(label_value(labels, "c"), "d");
  EXPECT_EQ(label_value(labels, "b"), "");
  EXPECT_TRUE(matches(parsed(R"({x=""})").selector, labels));
  EXPECT_TRUE(matches(parsed(R"({x!="y"})").selector, labels));
  EXPECT_TRUE(matches(parsed(R"({x=~".*"})").selector, labels));
  EXPECT_FALSE(matches(parsed(R"({x=~".+"})").selector, labels));
  EXPECT_FALSE(matches(parsed(R"({x!=""})").selector, labels));
  EXPECT_TRUE(matches(parsed(R"({a="b", c!~"e|f"})").selector, labels));
  EXPECT_TRUE(parsed(R"({x=~"y|"})").selector[0].matches_empty());
  EXPECT_FALSE(parsed(R"({x!~"y|"})").selector[0].matches_empty());
}

TEST(Selector, PrintsWhatParsesToTheSame) {
  const std::string odd("\x01\xff\0\\\"\n`'é", 10);
  const auto matcher = LabelMatcher::make("odd \xfe", MatchOperator::kNotEqual, odd);
  ASSERT_TRUE(matcher.ok());
  const std::string text = to_string(Selector{*matcher});
  const Selector again = parsed(text).selector;
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].name(), "odd \xfe");
  EXPECT_EQ(again[0].value(), odd);
  EXPECT_EQ(again[0].op(), MatchOperator::kNotEqual);
}

}  // namespace
}  // namespace vesta
