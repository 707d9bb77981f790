#include "query/service_overview.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/time.h"
#include "profile/dictionary_builder.h"
#include "profile/test_profiles.h"
#include "query/type_words.h"
#include "store/memory/memory_engine.h"

namespace vesta {
namespace {

constexpr int64_t kStart = 1'763'208'000 * kSecond;

class ServiceOverviewTest : public ::testing::Test {
 protected:
  void write(std::string_view service, std::string_view host, int64_t time_ns, int64_t value,
             std::string_view type = "cpu", std::string_view unit = "nanoseconds") {
    ProfileBatch batch = test::batch_from({{"main", value}}, type, unit);
    DictionaryBuilder b(batch.dictionary);
    std::vector<Label> labels = {b.text_label(kServiceLabel, service)};
    if (!host.empty()) labels.push_back(b.text_label("host.name", host));
    batch.profiles[0].resource = b.label_set(labels);
    batch.profiles[0].time_ns = time_ns;
    WriteOptions options;
    options.now_ns = kStart;
    const auto receipt = engine_->write("t", batch, options);
    if (!receipt.ok()) throw std::runtime_error(receipt.error().message);
  }
  ServiceOverview ask(size_t points = 4, size_t most_rows = 1000) {
    ServiceOverviewRequest request;
    request.range = {kStart, kStart + 100 * kSecond};
    request.points = points;
    request.most_rows = most_rows;
    auto answer = service_overview(*engine_, "t", request);
    if (!answer.ok()) throw std::runtime_error(answer.error().message);
    return std::move(*answer);
  }

  std::unique_ptr<Engine> engine_ = make_memory_engine();
};

TEST_F(ServiceOverviewTest, ComparesWithTheEqualRangeBefore) {
  write("web", "a", kStart, 3);
  write("web", "b", kStart + 99 * kSecond, 4);
  write("web", "a", kStart - 100 * kSecond, 5);
  write("web", "a", kStart - 101 * kSecond, 50);
  write("api", "", kStart + 30 * kSecond, 100);
  const ServiceOverview found = ask();
  EXPECT_EQ(found.step_ns, 25 * kSecond);
  EXPECT_EQ(found.previous.start_ns, kStart - 100 * kSecond);
  ASSERT_EQ(found.types.size(), 1U);
  EXPECT_EQ(found.types[0].word, "cpu");
  ASSERT_EQ(found.types[0].rows.size(), 2U);
  const ServiceRow& api = found.types[0].rows[0];
  EXPECT_EQ(api.service, "api");
  EXPECT_EQ(api.total, 100);
  EXPECT_FALSE(api.previous_total.has_value());
  EXPECT_EQ(api.values, (std::vector<int64_t>{0, 100, 0, 0}));
  EXPECT_EQ(api.hosts, 0U);
  const ServiceRow& web = found.types[0].rows[1];
  EXPECT_EQ(web.total, 7);
  EXPECT_EQ(web.previous_total, 5);
  EXPECT_EQ(web.values, (std::vector<int64_t>{3, 0, 0, 4}));
  EXPECT_EQ(web.hosts, 2U);
  EXPECT_EQ(web.profiles, 2U);
  EXPECT_EQ(web.last_ns, kStart + 99 * kSecond);
}

TEST_F(ServiceOverviewTest, AveragesGaugesOverProfilesNotOverSteps) {
  // Three profiles in the first step, one in the last.
  for (const int64_t second : {0, 1, 2})
    write("api", "a", kStart + second * kSecond, 10, "inuse_space", "bytes");
  write("api", "a", kStart + 99 * kSecond, 50, "inuse_space", "bytes");
  write("api", "b", kStart, 1, "inuse_space", "bytes");
  const ServiceOverview found = ask();
  ASSERT_EQ(found.types.size(), 1U);
  EXPECT_EQ(found.types[0].word, "inuse");
  EXPECT_EQ(found.types[0].rows[0].total, 21);  // 80 / 4 on host a, 1 on host b
  EXPECT_EQ(found.types[0].rows[0].values, (std::vector<int64_t>{11, 0, 0, 50}));
}

TEST_F(ServiceOverviewTest, CutsRowsOfEachTypeAndSaysSo) {
  for (const char* service : {"a", "b", "c"}) {
    write(service, "", kStart, 1);
    write(service, "", kStart, 1, "alloc_space", "bytes");
  }
  const ServiceOverview found = ask(1, 2);
  ASSERT_EQ(found.types.size(), 2U);
  EXPECT_EQ(found.types[0].rows.size(), 2U);
  EXPECT_EQ(found.types[1].rows.size(), 2U);
  EXPECT_EQ(found.cut_rows, 2U);
}

TEST_F(ServiceOverviewTest, TakesARangeOfAllTime) {
  write("web", "a", kStart, 3);
  ServiceOverviewRequest request;
  request.range = kAllTime;
  const auto found = service_overview(*engine_, "t", request);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(found->previous.empty());
  EXPECT_EQ(found->types.at(0).rows.at(0).total, 3);
}

TEST_F(ServiceOverviewTest, StaysWithinItsBudget) {
  for (int i = 0; i < 100; ++i) write("service-" + std::to_string(i), "", kStart, 1);
  ServiceOverviewRequest request;
  request.range = {kStart, kStart + 100 * kSecond};
  request.budget.bytes = 10'000;
  const auto found = service_overview(*engine_, "t", request);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, ErrorCode::kLimit);
}

TEST(SelectorWord, IsTheShortestThatMeansTheType) {
  const ProfileType cpu{"process_cpu", "cpu", "nanoseconds", "cpu", "nanoseconds"};
  const ProfileType other_cpu{"wall", "cpu", "nanoseconds", "", ""};
  const ProfileType objects{"memory", "alloc_objects", "count", "space", "bytes"};
  const ProfileType odd{"x", "a b{}", "count", "", ""};
  const std::vector<ProfileType> types = {cpu, other_cpu, objects, odd};
  EXPECT_EQ(selector_word(types, cpu), "cpu");
  EXPECT_EQ(selector_word(types, other_cpu), "wall");
  EXPECT_EQ(selector_word(types, objects), "alloc_objects");
  EXPECT_EQ(selector_word(types, odd), "x");
  for (const ProfileType& type : types) {
    const auto found = find_stored_type(types, selector_word(types, type));
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found, type);
  }
}

}  // namespace
}  // namespace vesta
