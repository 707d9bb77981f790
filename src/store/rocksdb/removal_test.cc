// Deletions go in slices that nobody waits for long.
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/transaction_log.h>
#include <rocksdb/write_batch.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "base/mutex.h"
#include "base/time.h"
#include "store/rocksdb/remover.h"
#include "store/rocksdb/writer.h"
#include "store/testing/stored_profiles.h"
#include "testing/temporary_folder.h"

namespace vesta::rocks {
namespace {

using test::batch_of;
using test::kStartNs;
using test::ProfileSpec;
using test::selector_of;

constexpr int kPods = 2000;
constexpr int kDays = 4;

ProfileSpec of(std::string service, int64_t time_ns, std::string pod) {
  return {.labels = {{"service_name", std::move(service)}, {"pod", std::move(pod)}},
          .time_ns = time_ns,
          .samples = {{"main", 1}}};
}

class RemovalTest : public testing::Test {
 protected:
  RemovalTest() {
    RocksdbOptions options;
    options.directory = directory_.path() + "/data";
    options.sync = RocksdbOptions::Sync::kInterval;
    auto database = Database::open(options);
    if (!database) throw std::runtime_error(database.error().message);
    store_.emplace(options, std::move(*database));
  }
  void put(const std::vector<ProfileSpec>& specs) {
    const auto written = write(*store_, "a", batch_of(specs), {});
    ASSERT_TRUE(written.ok()) << written.error().message;
  }
  // Every other series stays: the worst that can be asked for.
  void fill() {
    for (int day = 0; day < kDays; ++day) {
      std::vector<ProfileSpec> specs;
      specs.reserve(kPods);
      for (int pod = 0; pod < kPods; ++pod) {
        specs.push_back(of("web", kStartNs + day * kDay,
                           (pod % 2 == 0 ? "even-" : "odd-") + std::to_string(pod)));
      }
      put(specs);
    }
  }

  TemporaryFolder directory_;
  std::optional<Store> store_;
};

TEST_F(RemovalTest, WritesNothingLargeAtOnce) {
  fill();
  rocksdb::DB& db = store_->database->db();
  // A flush on the way would take logs away that are counted below.
  ASSERT_TRUE(db.DisableFileDeletions().ok());
  const rocksdb::SequenceNumber before = db.GetLatestSequenceNumber();
  ASSERT_EQ(*remove(*store_, "a", selector_of(R"({pod=~"even-.*"})"), kAllTime), kPods / 2U);
  ASSERT_TRUE(store_->database->sync());
  std::unique_ptr<rocksdb::TransactionLogIterator> log;
  ASSERT_TRUE(db.GetUpdatesSince(before + 1, &log).ok());
  uint32_t largest = 0;
  uint32_t count = 0;
  for (; log->Valid(); log->Next()) {
    const rocksdb::BatchResult batch = log->GetBatch();
    if (batch.sequence <= before) continue;
    largest = std::max(largest, batch.writeBatchPtr->Count());
    ++count;
  }
  EXPECT_GT(count, 20U);
  EXPECT_LT(largest, 2000U);
}

TEST_F(RemovalTest, LetsWritersOfTheTenantInBetween) {
  fill();
  std::atomic<bool> is_over = false;
  std::atomic<uint64_t> written = 0;
  std::thread writer([&] {
    for (int64_t i = 0; !is_over; ++i) {
      put({of("fresh", kStartNs + 9 * kDay + i * kSecond, "x")});
      ++written;
    }
  });
  while (written == 0) std::this_thread::yield();
  const uint64_t before = written;
  const auto removed = remove(*store_, "a", selector_of(R"({pod=~"even-.*"})"), kAllTime);
  const uint64_t during = written - before;
  is_over = true;
  writer.join();
  ASSERT_TRUE(removed.ok());
  EXPECT_EQ(*removed, kPods / 2U);
  // Some 60 slices; without them the few that came before it.
  EXPECT_GT(during, 15U);
}

TEST(WriteGateTest, LetsInAsTheyCome) {
  WriteGate gate;
  std::string order;
  std::optional<WriteGate::Pass> first(gate.enter_alone());
  std::vector<std::thread> threads;
  Mutex mutex;
  for (const bool alone : {false, true, false}) {
    std::promise<void> begun;
    threads.emplace_back([&, alone] {
      begun.set_value();
      const auto pass = alone ? gate.enter_alone() : gate.enter();
      const MutexLock lock(mutex);
      order += alone ? 'A' : 's';
    });
    begun.get_future().wait();
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (gate.waiting() < threads.size() && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
  }
  first.reset();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(order, "sAs");
}

}  // namespace
}  // namespace vesta::rocks
