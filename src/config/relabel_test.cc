#include "config/relabel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vesta {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

Labels applied(RelabelSpec spec, Labels labels) {
  const auto rule = RelabelRule::make(std::move(spec));
  EXPECT_TRUE(rule.ok()) << rule.error().message;
  if (!rule.ok() || !rule->apply(labels)) return {};
  return labels;
}

TEST(Relabel, ReplacesByTheGroupsOfTheExpression) {
  RelabelSpec spec;
  spec.source_labels = {"a", "b"};
  spec.regex = "(?P<first>.*);(.*)";
  spec.target_label = "c";
  spec.replacement = "${2}-$first-$1x-$$";
  EXPECT_THAT(applied(spec, {{"a", "1"}, {"b", "2"}}),
              ElementsAre(Pair("a", "1"), Pair("b", "2"), Pair("c", "2-1--$")));
  spec.regex = "no match";
  EXPECT_THAT(applied(spec, {{"a", "1"}}), ElementsAre(Pair("a", "1")));
}

TEST(Relabel, EmptyReplacementRemovesTheLabel) {
  RelabelSpec spec;
  spec.target_label = "a";
  spec.replacement = "";
  EXPECT_THAT(applied(spec, {{"a", "1"}, {"b", "2"}}), ElementsAre(Pair("b", "2")));
}

TEST(Relabel, KeepsAndDropsWholeMatches) {
  RelabelSpec spec;
  spec.source_labels = {"env"};
  spec.regex = "prod";
  spec.action = RelabelAction::kKeep;
  EXPECT_FALSE(applied(spec, {{"env", "prod"}}).empty());
  EXPECT_TRUE(applied(spec, {{"env", "prod2"}}).empty());
  spec.action = RelabelAction::kDrop;
  EXPECT_TRUE(applied(spec, {{"env", "prod"}}).empty());
  EXPECT_FALSE(applied(spec, {{"env", "xprod"}}).empty());
}

TEST(Relabel, WorksOnNames) {
  RelabelSpec spec;
  spec.regex = "__meta_(.+)";
  spec.action = RelabelAction::kLabelMap;
  EXPECT_THAT(applied(spec, {{"__meta_zone", "eu"}}),
              ElementsAre(Pair("__meta_zone", "eu"), Pair("zone", "eu")));
  spec.action = RelabelAction::kLabelDrop;
  EXPECT_THAT(applied(spec, {{"__meta_zone", "eu"}, {"a", "1"}}), ElementsAre(Pair("a", "1")));
  spec.action = RelabelAction::kLabelKeep;
  EXPECT_THAT(applied(spec, {{"__meta_zone", "eu"}, {"a", "1"}}),
              ElementsAre(Pair("__meta_zone", "eu")));
}

TEST(Relabel, HashesLikePrometheus) {
  RelabelSpec spec;
  spec.source_labels = {"c"};
  spec.action = RelabelAction::kHashMod;
  spec.target_label = "d";
  spec.modulus = 1000;
  // From Prometheus' own tests.
  EXPECT_THAT(applied(spec, {{"c", "baz"}}), ElementsAre(Pair("c", "baz"), Pair("d", "976")));
}

TEST(Relabel, ChangesCase) {
  RelabelSpec spec;
  spec.source_labels = {"a"};
  spec.target_label = "b";
  spec.action = RelabelAction::kUppercase;
  EXPECT_THAT(applied(spec, {{"a", "Foo"}}), ElementsAre(Pair("a", "Foo"), Pair("b", "FOO")));
  spec.action = RelabelAction::kLowercase;
  EXPECT_THAT(applied(spec, {{"a", "Foo"}}), ElementsAre(Pair("a", "Foo"), Pair("b", "foo")));
}

TEST(Relabel, BadRulesAreRefused) {
  RelabelSpec spec;
  EXPECT_THAT(RelabelRule::make(spec).error().message, HasSubstr("target_label"));
  spec.target_label = "a";
  spec.regex = "(";
  EXPECT_THAT(RelabelRule::make(spec).error().message, HasSubstr("regex '('"));
  spec.regex = ".*";
  spec.action = RelabelAction::kHashMod;
  EXPECT_THAT(RelabelRule::make(spec).error().message, HasSubstr("modulus"));
  EXPECT_THAT(parse_relabel_action("replcae").error().hint, HasSubstr("replace"));
}

}  // namespace
}  // namespace vesta
