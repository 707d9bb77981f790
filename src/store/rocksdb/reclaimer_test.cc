// Deleted data leaves the disk and the memory.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/time.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "store/testing/stored_profiles.h"
#include "testing/temporary_folder.h"

namespace vesta::test {
namespace {

constexpr int kHours = 40;
constexpr int kPods = 60;

class Reclaiming : public testing::Test {
 protected:
  Reclaiming() {
    options_.directory = directory_.path() + "/data";
    options_.background = false;
    options_.reserve_bytes = 0;  // it would be on the disk whatever is stored
    options_.clock = [this] { return UnixNs(now_ns_); };
    open();
  }
  void open() {
    engine_.reset();
    auto opened = open_rocksdb_engine(options_);
    if (!opened) throw std::runtime_error(opened.error().message);
    engine_ = std::move(*opened);
  }

  // About 8 MB that do not shrink: names of functions nobody has twice.
  void fill(std::string_view tenant) {
    std::mt19937_64 random(7);
    for (int hour = 0; hour < kHours; ++hour) {
      std::vector<ProfileSpec> specs;
      for (int pod = 0; pod < kPods; ++pod) {
        ProfileSpec spec;
        spec.labels = {{"service_name", "web-" + std::to_string(pod % 4)},
                       {"pod", "pod-with-a-long-name-" + std::to_string(pod)}};
        spec.time_ns = kStartNs + hour * kHour + pod;
        for (int i = 0; i < 40; ++i) {
          std::string name = "main;";
          for (int word = 0; word < 4; ++word) name += std::to_string(random());
          spec.samples.push_back({name, static_cast<int64_t>(random() >> 20)});
        }
        specs.push_back(std::move(spec));
      }
      const auto written = engine_->write(tenant, batch_of(specs), {});
      ASSERT_TRUE(written.ok()) << written.error().message;
    }
    ASSERT_TRUE(engine_->maintain());
  }

  uint64_t bytes_on_disk() const {
    uint64_t sum = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options_.directory)) {
      // A file may go between the two questions.
      std::error_code gone;
      const uint64_t bytes = entry.is_regular_file(gone) ? entry.file_size(gone) : 0;
      if (!gone) sum += bytes;
    }
    return sum;
  }
  double detail(std::string_view name) {
    for (const auto& [key, value] : engine_->stats().details)
      if (key == name) return value;
    ADD_FAILURE() << "there is no " << name;
    return 0;
  }

  int64_t now_ns_ = kStartNs + kHours * kHour;
  TemporaryFolder directory_;
  RocksdbOptions options_;
  std::unique_ptr<Engine> engine_;
};

constexpr uint64_t kMiB = 1 << 20;

TEST_F(Reclaiming, ADeletionFreesTheDisk) {
  fill("a");
  const uint64_t full = bytes_on_disk();
  ASSERT_GT(full, 4 * kMiB);
  ASSERT_TRUE(engine_->remove("a", {}, kAllTime).ok());
  ASSERT_TRUE(engine_->maintain());
  EXPECT_LT(bytes_on_disk(), full / 8);
  EXPECT_EQ(detail("reclaim_pending_ranges"), 0);
}

TEST_F(Reclaiming, WhatOthersHaveStays) {
  fill("a");
  fill("b");
  const uint64_t full = bytes_on_disk();
  ASSERT_TRUE(engine_->remove("a", {}, kAllTime).ok());
  ASSERT_TRUE(engine_->maintain());
  EXPECT_LT(bytes_on_disk(), full * 3 / 4);
  SelectRequest request;
  request.type = type_of(kCpuType);
  request.range = kAllTime;
  const auto selected = engine_->select("b", request);
  ASSERT_TRUE(selected.ok());
  EXPECT_EQ(selected->at(0).profiles, uint64_t{kHours} * kPods);
}

TEST_F(Reclaiming, ExpiredDataFreesTheDisk) {
  fill("a");
  const uint64_t full = bytes_on_disk();
  RetentionPolicy policy;
  policy.rules.push_back({"", kHour});
  now_ns_ += 2 * kHour;
  ASSERT_TRUE(engine_->set_retention("a", policy));
  ASSERT_TRUE(engine_->maintain());
  EXPECT_LT(bytes_on_disk(), full / 8);
}

TEST_F(Reclaiming, ARestartedEngineGoesOnWithIt) {
  fill("a");
  const uint64_t full = bytes_on_disk();
  ASSERT_TRUE(engine_->remove("a", {}, kAllTime).ok());
  open();
  ASSERT_TRUE(engine_->maintain());
  EXPECT_LT(bytes_on_disk(), full / 8);
}

TEST_F(Reclaiming, InTheBackgroundItNeedsNobody) {
  options_.background = true;
  options_.background_interval = std::chrono::milliseconds(20);
  options_.reclaim_interval = std::chrono::milliseconds(20);
  open();
  fill("a");
  const uint64_t full = bytes_on_disk();
  ASSERT_TRUE(engine_->remove("a", {}, kAllTime).ok());
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (bytes_on_disk() >= full / 8 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LT(bytes_on_disk(), full / 8);
}

TEST_F(Reclaiming, WritesToDeletedHoursAreThereAfterwards) {
  fill("a");
  ASSERT_TRUE(engine_->remove("a", {}, kAllTime).ok());
  ProfileSpec late;
  late.labels = {{"service_name", "web-0"}};
  late.time_ns = kStartNs + 5 * kHour;
  late.samples = {{"main", 7}};
  ASSERT_TRUE(engine_->write("a", batch_of({late}), {}).ok());
  ASSERT_TRUE(engine_->maintain());
  open();
  SelectRequest request;
  request.type = type_of(kCpuType);
  request.range = kAllTime;
  const auto selected = engine_->select("a", request);
  ASSERT_TRUE(selected.ok());
  EXPECT_EQ(selected->at(0).total, 7);
}

TEST_F(Reclaiming, IndexesAndDictionariesShrink) {
  fill("a");
  const double index = detail("index_bytes");
  const double dictionaries = detail("dictionary_bytes");
  ASSERT_TRUE(engine_->remove("a", selector_of(R"({service_name!="web-0"})"), kAllTime).ok());
  EXPECT_LT(detail("index_bytes"), index * 0.7);
  EXPECT_LT(detail("dictionary_bytes"), dictionaries * 0.5);
  ASSERT_TRUE(engine_->remove("a", {}, kAllTime).ok());
  EXPECT_LT(detail("index_bytes"), index * 0.3);
  EXPECT_LT(detail("dictionary_bytes"), dictionaries * 0.05);
}

}  // namespace
}  // namespace vesta::test
