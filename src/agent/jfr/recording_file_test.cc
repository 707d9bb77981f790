#include "agent/jfr/recording_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/jfr/test_folder.h"
#include "base/test_requirements.h"
#include "formats/common/compression.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

TEST(RecordingFile, IsWholeOnlyToItsLastByte) {
  const std::string one = recording(3);
  const std::string two = one + recording(4);
  EXPECT_TRUE(is_whole_recording(one));
  EXPECT_TRUE(is_whole_recording(two));
  for (size_t bytes = 0; bytes < two.size(); ++bytes)
    EXPECT_EQ(is_whole_recording(std::string_view(two).substr(0, bytes)), bytes == one.size());
  EXPECT_FALSE(is_whole_recording(recording(3, 1))) << "its writer has not closed the chunk";
  EXPECT_FALSE(is_whole_recording("no recording"));
}

TEST(RecordingFile, KnowsWhetherSomebodyWritesIt) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder.path("a.jfr"), recording(1)).ok());
  const UniqueFd reader(::open(folder.path("a.jfr").c_str(), O_RDONLY | O_CLOEXEC));
  VESTA_REQUIRE_OR_SKIP(writers_of(reader.get()) != Writers::kUnknown,
                        "the file system of temporary files has no leases");
  EXPECT_EQ(writers_of(reader.get()), Writers::kNone);
  {
    const UniqueFd writer(::open(folder.path("a.jfr").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    EXPECT_EQ(writers_of(reader.get()), Writers::kSome);
  }
  EXPECT_EQ(writers_of(reader.get()), Writers::kNone);
}

TEST(RecordingFile, IsReadPackedOrNot) {
  const TemporaryFolder folder;
  const std::string bytes = recording(3);
  ASSERT_TRUE(write_file(folder.path("a.jfr"), bytes).ok());
  ASSERT_TRUE(write_file(folder.path("a.jfr.gz"), gzip(bytes)).ok());
  for (const char* name : {"a.jfr", "a.jfr.gz"}) {
    const UniqueFd fd(::open(folder.path(name).c_str(), O_RDONLY | O_CLOEXEC));
    const auto read = RecordingBytes::read(fd.get(), {});
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(read->bytes(), bytes);
  }
  ReadOptions tight;
  tight.max_decoded_bytes = 10;
  const UniqueFd fd(::open(folder.path("a.jfr.gz").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(RecordingBytes::read(fd.get(), tight).error().code, ErrorCode::kLimit);
}

TEST(RecordingFile, APathNamesAServiceWhenItHasAName) {
  EXPECT_EQ(service_of_path("checkout.jfr"), "checkout");
  EXPECT_EQ(service_of_path("checkout-2026-01-16_180855.jfr.gz"), "checkout");
  EXPECT_EQ(service_of_path("order-service_20260116T180855Z.jfr"), "order-service");
  EXPECT_EQ(service_of_path("hotspot-pid-12-id-1-2026_01_16_18_08_55.jfr"), "");
  EXPECT_EQ(service_of_path("cart/recording-1.jfr"), "cart");
  EXPECT_EQ(service_of_path("cart/2026/01/17.jfr"), "cart");
  EXPECT_EQ(service_of_path("1.jfr"), "");
  EXPECT_EQ(service_of_path(""), "");
}

TEST(RecordingFile, TimesHaveNanosecondsOfTheirContent) {
  const auto time_of = [](int64_t time_ns, uint64_t content) {
    ProfileBatch batch;
    batch.profiles.emplace_back().time_ns = time_ns;
    time_exactly(batch, {0, content});
    return batch.profiles[0].time_ns;
  };
  EXPECT_EQ(time_of(1'700'000'000'123'000'000, 999'999), 1'700'000'000'123'000'001);
  EXPECT_EQ(time_of(1'700'000'000'123'000'000, 999'998), 1'700'000'000'123'999'999);
  EXPECT_EQ(time_of(1'700'000'000'123'000'001, 5), 1'700'000'000'123'000'001);
}

}  // namespace
}  // namespace vesta::agent
