#include "cli/command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "cli/commands.h"

namespace vesta::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Command sample_command() {
  Command c;
  c.name = "show";
  c.summary = "Shows things";
  c.arguments = "SOURCE…";
  c.examples = {"vesta show a.pb  # the whole of it"};
  c.min_arguments = 1;
  c.max_arguments = 2;
  c.flags = {{"show-from", 0, "RE", "cut above"},
             {"nodes", 'n', "N", "rows"},
             {"cum", 'c', "", "sort by cumulative weight"},
             {"output", 'o', "FORMAT", "how", {"text", "json"}}};
  return c;
}

TEST(Arguments, FlagsMayStandAnywhere) {
  const auto a =
      parse_arguments(sample_command(), {"-n", "5", "x.pb", "--cum", "--output=json", "y.pb"});
  ASSERT_TRUE(a.ok());
  EXPECT_THAT(a->positional, ElementsAre("x.pb", "y.pb"));
  EXPECT_EQ(a->get("nodes"), "5");
  EXPECT_TRUE(a->has("cum"));
  EXPECT_EQ(a->get("output"), "json");
}

TEST(Arguments, PprofsSpellingIsUnderstood) {
  const auto a = parse_arguments(sample_command(), {"-show_from=main", "-cum", "-nodes=3", "x.pb"});
  ASSERT_TRUE(a.ok()) << a.error().message;
  EXPECT_EQ(a->get("show-from"), "main");
  EXPECT_TRUE(a->has("cum"));
  EXPECT_EQ(a->get("nodes"), "3");
}

TEST(Arguments, ListsMayBeRepeatedAndTheCommandChecksTheirItems) {
  Command c = sample_command();
  c.flags.push_back({"event", 'e', "KIND", "what", {"a", "b"}, true, true});
  const auto a = parse_arguments(c, {"-e", "a,b=7", "-ea", "--event=,", "x"});
  ASSERT_TRUE(a.ok()) << a.error().message;
  EXPECT_THAT(a->list("event"), ElementsAre("a", "b=7", "a", "", ""));
  EXPECT_TRUE(a->list("nodes").empty());
}

TEST(Arguments, ShortFlagsTakeTheirValueWithoutASpace) {
  EXPECT_EQ(parse_arguments(sample_command(), {"-n7", "x"})->get("nodes"), "7");
  EXPECT_EQ(parse_arguments(sample_command(), {"-n=7", "x"})->get("nodes"), "7");
  EXPECT_EQ(parse_arguments(sample_command(), {"-ojson", "x"})->get("output"), "json");
}

TEST(Arguments, AWordBehindOneDashIsNeverTakenApart) {
  for (const char* word : {"-nodez=3", "-octopus", "-nothing", "-cumm"}) {
    const auto a = parse_arguments(sample_command(), {word, "x"});
    ASSERT_FALSE(a.ok()) << word;
    EXPECT_EQ(a.error().code, ErrorCode::kUsage);
    EXPECT_THAT(a.error().message, HasSubstr("unknown flag")) << word;
    EXPECT_FALSE(a.error().hint.empty());
  }
}

TEST(Arguments, PprofsOtherNamesAreOurFlags) {
  Command c = sample_command();
  c.flags = {{"tag-focus", 0, "FILTER", "", {}, true},
             {"type", 't', "TYPE", ""},
             {"nodes", 'n', "N", ""},
             {"min-share", 0, "PERCENT", ""},
             {"granularity", 'g', "LEVEL", "", {"function", "line"}},
             {"cum", 'c', "", ""}};
  const auto a = parse_arguments(c, {"-tagfocus=thread=t1", "-tagfocus", "b", "-sample_index=1",
                                     "-nodecount=9", "-nodefraction=0.25", "-lines", "x"});
  ASSERT_TRUE(a.ok()) << a.error().message;
  EXPECT_THAT(a->all("tag-focus"), ElementsAre("thread=t1", "b"));
  EXPECT_EQ(a->get("type"), "1");
  EXPECT_EQ(a->get("nodes"), "9");
  EXPECT_EQ(a->get("min-share"), "25");
  EXPECT_EQ(a->get("granularity"), "line");
  EXPECT_EQ(parse_arguments(c, {"-inuse_space", "x"})->get("type"), "inuse_space");
  EXPECT_FALSE(parse_arguments(c, {"-nodefraction=2", "x"}).ok());
  EXPECT_FALSE(parse_arguments(c, {"-lines=no", "x"}).ok());
  // A command without the flag does not have the other name either.
  EXPECT_FALSE(parse_arguments(sample_command(), {"-tagfocus=x", "x"}).ok());
}

TEST(Arguments, SwitchesTakeTrueAndFalse) {
  EXPECT_TRUE(parse_arguments(sample_command(), {"-cum=true", "x"})->has("cum"));
  EXPECT_FALSE(parse_arguments(sample_command(), {"--cum", "-cum=false", "x"})->has("cum"));
  EXPECT_FALSE(parse_arguments(sample_command(), {"--cum", "-flat", "x"})->has("cum"));
  EXPECT_FALSE(parse_arguments(sample_command(), {"-cum=perhaps", "x"}).ok());
}

TEST(Arguments, OfAFlagThatDoesNotRepeatTheLastCounts) {
  const auto a = parse_arguments(sample_command(), {"-n", "1", "-n", "2", "x"});
  EXPECT_EQ(a->get("nodes"), "2");
  EXPECT_THAT(a->all("nodes"), ElementsAre("2"));
}

TEST(Arguments, EverythingAfterTwoDashesIsASource) {
  EXPECT_THAT(parse_arguments(sample_command(), {"--", "--odd-name"})->positional,
              ElementsAre("--odd-name"));
  EXPECT_THAT(parse_arguments(sample_command(), {"-"})->positional, ElementsAre("-"));
}

TEST(Arguments, AFlagMayBeRepeated) {
  Command repeating = sample_command();
  for (Flag& flag : repeating.flags) flag.repeats = true;
  const auto a = parse_arguments(repeating, {"-n", "5", "x", "--nodes=7", "-n9"});
  ASSERT_TRUE(a.ok());
  EXPECT_THAT(a->all("nodes"), ElementsAre("5", "7", "9"));
  EXPECT_EQ(a->get("nodes"), "9") << "the last one counts where one is asked for";
  EXPECT_TRUE(a->all("cum").empty());
}

TEST(Arguments, WordsBeforeTwoDashesAreToldFromThoseBehind) {
  EXPECT_EQ(parse_arguments(sample_command(), {"x", "--", "y"})->words_before_dashes, 1U);
  EXPECT_EQ(parse_arguments(sample_command(), {"--", "y"})->words_before_dashes, 0U);
}

TEST(Arguments, MistakesAreAnsweredWithAWayOut) {
  const auto hint = [](const std::vector<std::string>& words) {
    const auto a = parse_arguments(sample_command(), words);
    EXPECT_FALSE(a.ok());
    return a.ok() ? "" : a.error().message + " | " + a.error().hint;
  };
  EXPECT_THAT(hint({"--nodse", "5", "x"}), HasSubstr("did you mean --nodes?"));
  EXPECT_THAT(hint({"-o", "jsno", "x"}), HasSubstr("did you mean json?"));
  EXPECT_THAT(hint({"--cum=5", "x"}), HasSubstr("takes no value"));
  EXPECT_THAT(hint({"x", "--nodes"}), HasSubstr("needs a value: N"));
  EXPECT_THAT(hint({}), HasSubstr("needs SOURCE"));
  EXPECT_THAT(hint({"a", "b", "c"}), HasSubstr("unexpected argument 'c'"));
}

TEST(Arguments, NumbersAreCheckedForRange) {
  const auto a = parse_arguments(sample_command(), {"-n", "500", "x"});
  EXPECT_EQ(*a->integer("nodes", 1, 0, 1000), 500);
  EXPECT_EQ(a->integer("nodes", 1, 0, 100).error().code, ErrorCode::kUsage);
  EXPECT_EQ(*a->integer("other", 42, 0, 100), 42);
}

TEST(Commands, AreFoundByTheirOwnNames) {
  for (const std::string& name : command_names()) EXPECT_EQ(find_command(name)->name, name);
  EXPECT_FALSE(find_command("tops").has_value());
}

TEST(Help, NoCommandHasAFlagTwice) {
  for (const Command& command : all_commands()) {
    std::set<std::string> names;
    std::set<char> letters;
    for (const Flag& flag : command.flags) {
      EXPECT_TRUE(names.insert(flag.name).second) << command.name << " --" << flag.name;
      if (flag.letter != 0) {
        EXPECT_TRUE(letters.insert(flag.letter).second) << command.name << " -" << flag.letter;
      }
    }
  }
}

TEST(Help, ShowsUsageExamplesAndEveryFlag) {
  const std::string help = help_text(sample_command(), TextStyle());
  EXPECT_THAT(help, HasSubstr("Usage: vesta show SOURCE… [FLAGS]"));
  EXPECT_THAT(help, HasSubstr("vesta show a.pb  # the whole of it"));
  for (const Flag& flag : sample_command().flags) EXPECT_THAT(help, HasSubstr("--" + flag.name));
}

}  // namespace
}  // namespace vesta::cli
