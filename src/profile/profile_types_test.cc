#include "profile/profile_types.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace vesta {
namespace {

TEST(ProfileTypesTest, WordsAreWhatPeopleTypeInOrder) {
  EXPECT_EQ(
      short_type_list(),
      "cpu, off-cpu, off-cpu-waker, wall, alloc, inuse, mutex, mutex-holder, block, goroutine");
  EXPECT_EQ(types_of_word("inuse"),
            (std::vector<std::string_view>{"inuse_space", "inuse_bytes", "live_bytes", "live"}));
  EXPECT_TRUE(types_of_word("").empty());
  EXPECT_TRUE(types_of_word("alloc_objects").empty());
}

TEST(ProfileTypesTest, RowsAgreeWithEachOther) {
  std::map<std::string_view, Temporality> over_time;
  std::set<std::string> seen;
  for (const ProfileTypeRow& row : profile_type_rows()) {
    EXPECT_EQ(over_time.emplace(row.type, row.temporality).first->second, row.temporality)
        << row.type << " adds up in one family and not in another";
    EXPECT_TRUE(seen.insert(std::string(row.family) + ":" + std::string(row.type) + ":" +
                            std::string(row.unit))
                    .second)
        << row.family << ":" << row.type << " is there twice";
  }
}

TEST(ProfileTypesTest, EachOfPyroscopesWordsMeansOneType) {
  const auto type_of = [](std::string_view word) {
    const ProfileTypeRow* row = find_pyroscope_word(word);
    return row == nullptr ? std::string()
                          : std::string(row->family) + ":" + std::string(row->type) + ":" +
                                std::string(row->unit);
  };
  EXPECT_EQ(type_of("itimer"), "process_cpu:cpu:nanoseconds");
  EXPECT_EQ(type_of("seconds"), "wall:wall:nanoseconds");
  EXPECT_EQ(type_of("lock_duration"), "block:delay:nanoseconds");
  EXPECT_EQ(type_of("mutex_count"), "mutex:contentions:count");
  EXPECT_EQ(type_of("exceptions"), "exceptions:samples:count");
  EXPECT_EQ(type_of("bytes"), "memory:samples:bytes");
  EXPECT_EQ(type_of("goroutines"), "goroutine:goroutines:count");
  EXPECT_EQ(type_of("delay"), "");
  EXPECT_EQ(type_of(""), "");
  std::set<std::string> words;
  std::istringstream list(pyroscope_word_list());
  for (std::string word; std::getline(list >> std::ws, word, ',');) {
    EXPECT_TRUE(words.insert(word).second) << word;
    EXPECT_NE(find_pyroscope_word(word), nullptr) << word;
  }
  EXPECT_EQ(words.size(), 25U);
}

TEST(ProfileTypesTest, EventsAreNamedByFamilyAndType) {
  EXPECT_EQ(event_words("process_cpu", "cpu").event, "ebpf.CPUSample");
  EXPECT_EQ(event_words("memory", "inuse_space").profile_type, "heap");
  EXPECT_EQ(event_words("memory", "live").event, "ebpf.AllocationSample");
  EXPECT_EQ(event_words("another", "x").event, "ebpf.Sample");
}

TEST(ProfileTypesTest, FlameGraphsOfPyroscopeCountInItsUnits) {
  const auto said = [](std::string_view type, std::string_view unit,
                       std::optional<int64_t> rate = std::nullopt) {
    const FlamebearerUnits units = flamebearer_units(type, unit, rate);
    return std::string(units.units) + " at " + std::to_string(units.sample_rate);
  };
  EXPECT_EQ(said("cpu", "nanoseconds"), "samples at 1000000000");
  EXPECT_EQ(said("samples", "count", 99), "samples at 99");
  EXPECT_EQ(said("samples", "count"), "objects at 100");
  EXPECT_EQ(said("alloc_objects", "count"), "objects at 100");
  EXPECT_EQ(said("alloc_space", "bytes"), "bytes at 100");
}

// The web UI has the table as a file of its own: this keeps it the same.
TEST(ProfileTypesTest, WebUiHasTheSameTable) {
  const std::filesystem::path file =
      std::filesystem::path(VESTA_SOURCE_DIR) / "ui/src/text/profile_types.gen.ts";
  if (std::getenv("VESTA_UPDATE") != nullptr) {  // NOLINT(concurrency-mt-unsafe): nobody sets it
    std::ofstream(file) << profile_types_typescript();
  }
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_EQ(text.str(), profile_types_typescript())
      << "VESTA_UPDATE=1 scripts/test -R '^profile$' writes the file anew";
}

}  // namespace
}  // namespace vesta
