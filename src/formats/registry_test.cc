#include "formats/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>

#include "formats/common/compression.h"
#include "profile/dictionary_builder.h"
#include "profile/merged_profile.h"

namespace vesta {
namespace {

using testing::HasSubstr;

// Two types, labels, a link and inlined lines: more than any one format can hold.
ProfileBatch sample_batch() {
  ProfileBatch batch;
  DictionaryBuilder builder(batch.dictionary);
  Profile p;
  p.sample_types = {
      {builder.string("samples"), builder.string("count"), Temporality::kCumulative},
      {builder.string("cpu"), builder.string("nanoseconds"), Temporality::kCumulative}};
  p.default_type = 1;
  p.period_type = p.sample_types[1];
  p.period = 10'000'000;
  const LocationId main = builder.frame("main", "/src/main.cc", 10);
  const LocationId work = builder.frame("work", "/src/main.cc", 20);
  const LocationId idle = builder.frame("idle", "/src/main.cc", 30);
  const Label label = builder.text_label("thread", "worker");
  const LocationId busy_stack[] = {work, main};
  const LocationId idle_stack[] = {idle, main};
  const int64_t busy[] = {7, 70'000'000};
  const int64_t waiting[] = {3, 30'000'000};
  p.add_sample(builder.stack(busy_stack), busy, builder.label_set({&label, 1}));
  p.add_sample(builder.stack(idle_stack), waiting);
  batch.profiles.push_back(std::move(p));
  return batch;
}

int64_t total_in(const ProfileBatch& batch, std::string_view unit) {
  for (const TypeInfo& type : list_types(batch)) {
    if (type.unit == unit) return type.total;
  }
  return -1;
}

TEST(Registry, RecognisesEachFormatItWritesByContentAlone) {
  for (const char* path :
       {"x.pb", "x.pb.gz", "x.pb.zst", "x.speedscope.json", "x.otlp", "x.otlp.json", "x.folded",
        "x.flamebearer.json", "x.otlp.gz", "x.json"}) {
    EncodeOptions options;
    options.type = "cpu";
    const auto bytes = encode_for_path(sample_batch(), path, options);
    ASSERT_TRUE(bytes.ok()) << path << ": " << bytes.error().message;
    const auto read = read_profile(*bytes, "", {});
    ASSERT_TRUE(read.ok()) << path << ": " << read.error().message;
    EXPECT_EQ(find_inconsistency(*read), "") << path;
    // Folded text knows counts only; the others know what was counted.
    const std::string_view unit = std::string_view(path) == "x.folded" ? "count" : "nanoseconds";
    EXPECT_EQ(total_in(*read, unit), 100'000'000) << path;
  }
}

TEST(Registry, FormatsThatHoldAllTypesKeepThem) {
  for (const char* path : {"x.pb.gz", "x.otlp", "x.otlp.json", "x.speedscope.json"}) {
    const auto read = read_profile(encode_for_path(sample_batch(), path, {}).value(), "", {});
    ASSERT_TRUE(read.ok()) << path;
    EXPECT_EQ(total_in(*read, "count"), 10) << path;
    EXPECT_EQ(total_in(*read, "nanoseconds"), 100'000'000) << path;
  }
}

TEST(Registry, UnpacksTwiceButNotForever) {
  const std::string folded = "main;work 5\n";
  EXPECT_TRUE(read_profile(gzip(gzip(folded)), "", {}).ok());
  EXPECT_FALSE(read_profile(gzip(gzip(gzip(folded))), "", {}).ok());
}

TEST(Registry, SaysWhatItKnowsWhenItKnowsNotWhatThisIs) {
  const auto result = read_profile(
      "\x7f"
      "EXE and no format of profiles",
      "", {});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, HasSubstr("\\x7fEXE"));
  EXPECT_THAT(result.error().hint, HasSubstr("pprof"));
  EXPECT_EQ(encode_for_path(sample_batch(), "x.png", {}).error().code, ErrorCode::kUsage);
}

TEST(Registry, NeverMistakesNoiseForAProfile) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string noise(random() % 300, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    EXPECT_FALSE(read_profile(noise, "", {}).ok());
  }
}

TEST(Registry, PicturesAreChosenByTheEnding) {
  EXPECT_EQ(*picture_format_for_path("a.svg"), PictureFormat::kSvg);
  EXPECT_EQ(*picture_format_for_path("a.html"), PictureFormat::kHtml);
  EXPECT_EQ(picture_format_for_path("a.pb.gz"), nullptr);
}

TEST(Registry, ListsEachFormatWithAllThatIsSaidOfIt) {
  for (const FormatInfo& format : list_formats()) {
    EXPECT_FALSE(format.title.empty()) << format.name;
    EXPECT_TRUE(format.is_read || format.is_written) << format.name;
    EXPECT_EQ(format.ending.empty(), !format.is_written) << format.name;
    EXPECT_EQ(format.content_type.empty(), !format.is_written) << format.name;
    EXPECT_EQ(picture_format_named(format.name) != nullptr, format.is_picture) << format.name;
  }
}

// The web UI has the list as a file of its own: this keeps it the same.
TEST(Registry, WebUiHasTheSameFormats) {
  const std::filesystem::path file =
      std::filesystem::path(VESTA_SOURCE_DIR) / "ui/src/text/formats.gen.ts";
  if (std::getenv("VESTA_UPDATE") != nullptr) {  // NOLINT(concurrency-mt-unsafe): nobody sets it
    std::ofstream(file) << formats_typescript();
  }
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_EQ(text.str(), formats_typescript())
      << "VESTA_UPDATE=1 scripts/test -R '^formats$' writes the file anew";
}

}  // namespace
}  // namespace vesta
