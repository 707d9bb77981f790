#include "cli/completion_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace vesta::cli {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::StartsWith;
using enum SelectorPlace::Kind;

TEST(FirstWords, AreThoseThatACommandTakes) {
  EXPECT_THAT(first_words("init [FILE] | check FILE | show"), ElementsAre("init", "check", "show"));
  EXPECT_THAT(first_words("types|labels|values LABEL|series [SELECTOR]"),
              ElementsAre("types", "labels", "values", "series"));
  EXPECT_THAT(first_words("SOURCE…"), ElementsAre());
  EXPECT_THAT(first_words(""), ElementsAre());
}

TEST(SelectorPlace, IsATypeBeforeTheBrace) {
  const SelectorPlace place = selector_place("cp");
  EXPECT_EQ(place.kind, kType);
  EXPECT_EQ(place.partial, "cp");
}

TEST(SelectorPlace, IsALabelBehindTheBraceAndBehindCommas) {
  EXPECT_EQ(selector_place("cpu{").kind, kLabel);
  const SelectorPlace place = selector_place("cpu{a=\"x,{y\", ser");
  EXPECT_EQ(place.kind, kLabel);
  EXPECT_EQ(place.head, "cpu{a=\"x,{y\", ");
  EXPECT_EQ(place.partial, "ser");
}

TEST(SelectorPlace, IsAValueInsideOfQuotes) {
  const SelectorPlace place = selector_place("cpu{a=\"1\",service_name=~\"che");
  EXPECT_EQ(place.kind, kValue);
  EXPECT_EQ(place.label, "service_name");
  EXPECT_EQ(place.head, "cpu{a=\"1\",service_name=~\"");
  EXPECT_EQ(place.partial, "che");
}

TEST(SelectorPlace, IsNothingWhereNoWordGoes) {
  EXPECT_EQ(selector_place("cpu{a=").kind, kNone);
  EXPECT_EQ(selector_place("cpu{a=\"b\"").kind, kNone);
  EXPECT_EQ(selector_place("cpu{}").kind, kNone);
}

TEST(ProcessCandidates, HoldThisProcessWithItsName) {
  EXPECT_THAT(process_candidates(), Contains(StartsWith(std::to_string(::getpid()) + "\t")));
}

TEST(SelectorCandidates, AreShortTypesWhereNoServerAnswers) {
  Arguments arguments;
  arguments.set("server", "http://127.0.0.1:1");
  EXPECT_THAT(selector_candidates(arguments, "cp"), ElementsAre("cpu{"));
  EXPECT_THAT(selector_candidates(arguments, "cpu{"), ElementsAre());
}

}  // namespace
}  // namespace vesta::cli
