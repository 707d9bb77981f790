#include "config/field.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "config/relabel_config.h"
#include "config/values.h"
#include "config/yaml.h"

namespace vesta::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

struct Wheel {
  std::string name;
  uint32_t size = 10;
};

struct Car {
  bool is_fast = false;
  uint64_t doors = 4;
  std::vector<std::string> tags;
  std::map<std::string, std::string> labels;
  std::vector<Wheel> wheels;
  std::vector<RelabelRule> rules;
  std::string key;
};

Fields fields_of(Wheel& wheel) {
  return {field("name", Text{false}, wheel.name), field("rim.size", Count{1, 50}, wheel.size)};
}

Fields fields_of(Car& car) {
  return {alias_field("quick", "car.fast", Switch(), car.is_fast),
          field("car.fast", Switch(), car.is_fast),
          field("car.doors", Count{0, 9}, car.doors),
          field("car.tags", ListOf<Text>(), car.tags),
          field("car.labels", MapOf<Text>(), car.labels),
          field("car.wheels", groups<Wheel>(fields_of), car.wheels),
          field("car.rules", RelabelRules(), car.rules),
          field("car.key", Secret(), car.key),
          field_without_effect<bool>("car.flies", Switch())};
}

Findings read(Car& car, std::string_view text) {
  Findings findings;
  const auto document = parse_yaml(text, "f");
  EXPECT_TRUE(document.ok());
  if (document.ok()) read_document(*document, fields_of(car), findings);
  return findings;
}

std::vector<std::string> problems(std::string_view text) {
  Car car;
  std::vector<std::string> out;
  for (const Finding& finding : read(car, text).errors) {
    out.push_back(finding.error.message +
                  (finding.error.hint.empty() ? "" : "; " + finding.error.hint));
  }
  return out;
}

TEST(Fields, ReadWordsListsMapsAndGroups) {
  Car car;
  const Findings findings = read(car, R"(car:
  fast: yes
  doors: 2
  tags: [a, b]
  labels: {x: "1", y: two}
  wheels:
    - name: left
      rim: {size: 17}
    - name: right
  rules:
    - {source_labels: [a], target_label: b}
)");
  ASSERT_TRUE(findings.status().ok()) << findings.status().error().message;
  EXPECT_TRUE(car.is_fast);
  EXPECT_EQ(car.doors, 2U);
  EXPECT_THAT(car.tags, ElementsAre("a", "b"));
  EXPECT_THAT(car.labels, ElementsAre(Pair("x", "1"), Pair("y", "two")));
  ASSERT_EQ(car.wheels.size(), 2U);
  EXPECT_EQ(car.wheels[0].size, 17U);
  EXPECT_EQ(car.wheels[1].size, 10U);
  EXPECT_EQ(car.rules.size(), 1U);
  EXPECT_EQ(findings.origin_of("car.wheels[0].rim.size").text(), "f:8");
  EXPECT_EQ(findings.origin_of("car.wheels[1].rim.size").text(), "default");
  EXPECT_EQ(findings.origin_of("car.labels.y").text(), "f:5");
}

TEST(Fields, AllProblemsAreToldInTheOrderOfTheFile) {
  EXPECT_THAT(
      problems(R"(car:
  labels: 7
  dors: 3
  fast: perhaps
  wheels:
    - {nam: x}
    - {name: y, rim: {size: 99}}
  tags: {a: b}
  rules: [{action: jump}]
  doors: [1]
ship: {}
)"),
      ElementsAre(
          "f:2:11: car.labels: must be a map of keys and values; use KEY: VALUE, one per line",
          "f:3:3: unknown key 'car.dors'; did you mean car.doors?",
          "f:4:9: car.fast: 'perhaps' is not true or false",
          "f:6:8: unknown key 'car.wheels[0].nam'; did you mean "
          "car.wheels[0].name?",
          "f:7:29: car.wheels[1].rim.size: '99' is not a number from 1 to 50",
          "f:8:9: car.tags: must be a list; use - ITEM, one per line",
          HasSubstr("f:9:20: car.rules[0].action: unknown action 'jump'"),
          "f:10:10: car.doors: must be a single value, not a list or a map; use number",
          "f:11:1: unknown key 'ship'; known keys: car, quick"));
}

TEST(Fields, SuggestKeysThatStandElsewhere) {
  EXPECT_THAT(problems("doors: 3\n"),
              ElementsAre("f:1:1: unknown key 'doors'; did you mean car.doors?"));
  EXPECT_THAT(problems("car.doors: 3\n"),
              ElementsAre(HasSubstr("use one indented line for each part")));
  EXPECT_THAT(problems("car: 3\n"), ElementsAre(HasSubstr("f:1:6: car must be a map of keys")));
  EXPECT_THAT(problems("- 3\n"), ElementsAre(HasSubstr("the file is not a map of keys")));
  EXPECT_THAT(problems("car:\n"), ElementsAre());
}

TEST(Fields, ThereIsAnEndToProblems) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "unknown_key_number_" + std::to_string(i) + ": 1\n";
  EXPECT_EQ(problems(text).size(), Findings::kMost);
}

TEST(Fields, EnvironmentAndFlagsWinInThisOrder) {
  Car car;
  Findings findings = read(car, "car: {doors: 2, tags: [a], fast: true}\n");
  const std::map<std::string, std::string> variables = {
      {"VESTA_CAR_DOORS", "3"}, {"VESTA_CAR_TAGS", "x,y"}, {"VESTA_CAR_WHEELS", "no"}};
  const auto get = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  const Fields fields = fields_of(car);
  read_environment(get, fields, findings);
  EXPECT_EQ(car.doors, 3U);
  EXPECT_THAT(car.tags, ElementsAre("x", "y"));
  EXPECT_TRUE(car.is_fast);
  read_flag("--doors", "car.doors", "5", fields, findings);
  EXPECT_EQ(car.doors, 5U);
  EXPECT_TRUE(findings.status().ok());
  EXPECT_EQ(findings.origin_of("car.doors").text(), "--doors");
  EXPECT_EQ(findings.origin_of("car.tags").text(), "VESTA_CAR_TAGS");
  EXPECT_EQ(findings.origin_of("car.fast").text(), "f:1");
  read_flag("--doors", "car.doors", "many", fields, findings);
  ASSERT_EQ(findings.errors.size(), 1U);
  EXPECT_EQ(findings.errors[0].error.message, "--doors: 'many' is not a whole number");
  EXPECT_EQ(car.doors, 5U);
}

TEST(Fields, AnAliasSetsTheSameAndLosesAgainstTheKeyItself) {
  Car car;
  Findings findings = read(car, "quick: true\n");
  EXPECT_TRUE(car.is_fast);
  EXPECT_EQ(findings.origin_of("car.fast").text(), "f:1 (quick)");
  Car other;
  findings = read(other, "car: {fast: false}\nquick: true\n");
  EXPECT_FALSE(other.is_fast);
  ASSERT_EQ(findings.warnings.size(), 1U);
  EXPECT_EQ(findings.warnings[0].error.message,
            "f:2:8: quick: 'true' is ignored, because car.fast is 'false' in line 1");
}

TEST(Fields, WhatHasNoEffectIsCheckedAndSaysSo) {
  Car car;
  const Findings findings = read(car, "car: {flies: true}\n");
  EXPECT_TRUE(findings.status().ok());
  ASSERT_EQ(findings.warnings.size(), 1U);
  EXPECT_EQ(findings.warnings[0].error.message, "f:1:14: car.flies: has no effect yet");
  EXPECT_THAT(problems("car: {flies: high}\n"), ElementsAre(HasSubstr("true or false")));
}

TEST(Fields, KeysNameWhatIsInsideOfListsAndMaps) {
  Car car;
  const auto keys = keys_of(fields_of(car));
  for (const char* key : {"car.tags", "car.labels.*", "car.wheels[].rim.size",
                          "car.rules[].source_labels", "car.flies", "quick"}) {
    EXPECT_THAT(keys, ::testing::Contains(key));
  }
}

}  // namespace
}  // namespace vesta::config
