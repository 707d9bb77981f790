#include "cli/record/sampling_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace vesta::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// One with a clock, one whose events come by themselves.
constexpr std::array<agent::ProbeKind, 2> kKinds = {
    {{"cpu", "CPU", "process_cpu", {}, 0, 0, 99, nullptr},
     {"waits", "waits", "waits", {}, 0, 0, 0, nullptr}}};

using Chosen = std::vector<std::pair<std::string, uint32_t>>;

Result<Chosen> choose(const std::vector<std::string>& words, std::optional<uint32_t> rate = {}) {
  VESTA_ASSIGN(const auto probes, choose_probes(words, rate, kKinds));
  Chosen out;
  for (const agent::ProbeRequest& probe : probes)
    out.emplace_back(probe.kind->name, probe.options.rate);
  return out;
}

Error error_of(const std::vector<std::string>& words, std::optional<uint32_t> rate = {}) {
  auto chosen = choose(words, rate);
  EXPECT_FALSE(chosen.ok());
  return chosen.ok() ? Error{} : chosen.error();
}

TEST(ChooseProbes, TakesTheFirstKindUnlessTold) {
  EXPECT_THAT(*choose({}), ElementsAre(Pair("cpu", 99)));
  EXPECT_THAT(*choose({"waits"}), ElementsAre(Pair("waits", 0)));
  EXPECT_THAT(*choose({"waits", "cpu"}), ElementsAre(Pair("waits", 0), Pair("cpu", 99)));
}

TEST(ChooseProbes, ARateOfItsOwnGoesBeforeTheCommonOne) {
  EXPECT_THAT(*choose({}, 49), ElementsAre(Pair("cpu", 49)));
  EXPECT_THAT(*choose({"cpu=499", "waits"}, 49), ElementsAre(Pair("cpu", 499), Pair("waits", 0)));
}

TEST(ChooseProbes, ARateWithoutAClockIsRefused) {
  EXPECT_EQ(error_of({"waits"}, 49).message, "--rate applies to none of the chosen events");
  EXPECT_THAT(error_of({"waits=49"}).hint, HasSubstr("waits has no sampling rate"));
}

TEST(ChooseProbes, ErrorsNameTheKindsThatThereAre) {
  const Error unknown = error_of({"cpu", "wait"});
  EXPECT_EQ(unknown.code, ErrorCode::kUsage);
  EXPECT_EQ(unknown.message, "--event cannot be 'wait'");
  EXPECT_EQ(unknown.hint, "did you mean waits? use one or more of: cpu, waits");
  EXPECT_EQ(error_of({""}).message, "--event cannot be ''");
  EXPECT_EQ(error_of({"cpu", "cpu=49"}).hint, "cpu is given twice");
  for (const char* word : {"cpu=", "cpu=0", "cpu=10000", "cpu=-1", "cpu=9x"})
    EXPECT_EQ(error_of({word}).hint, "use cpu=RATE with a whole number from 1 to 9999") << word;
}

TEST(ChooseProbes, HelpAndCompletionOfferTheProbesOfTheTable) {
  EXPECT_EQ(event_flag().choices.size(), agent::probe_kinds().size());
  EXPECT_EQ(event_flag().choices.front(), agent::probe_kinds().front().name);
}

}  // namespace
}  // namespace vesta::cli
