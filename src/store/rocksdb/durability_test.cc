#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "base/mutex.h"
#include "base/time.h"
#include "store/rocksdb/faulty_file_system.h"
#include "store/rocksdb/format/stored_totals.h"
#include "store/rocksdb/rocksdb_engine.h"
#include "store/testing/stored_profiles.h"
#include "testing/temporary_folder.h"

namespace vesta::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class DurabilityTest : public testing::Test {
 protected:
  DurabilityTest() {
    options_.directory = directory_.path() + "/data";
    options_.background = false;
    options_.warn = [this](std::string_view message) {
      const MutexLock lock(mutex_);
      warnings_ += std::string(message) + "\n";
    };
  }

  std::unique_ptr<Engine> open() {
    auto engine = open_rocksdb_engine(options_);
    EXPECT_TRUE(engine) << engine.error().message;
    return engine ? std::move(engine).value() : nullptr;
  }
  static ProfileBatch batch(int64_t number, const std::string& service = "web") {
    ProfileSpec spec;
    spec.labels = {{"service_name", service}};
    spec.time_ns = kStartNs + number * kMinuteNs;
    spec.samples = {{"main;f" + std::to_string(number % 50), number + 1}};
    return batch_of({spec});
  }
  static Result<WriteReceipt> write(Engine& engine, int64_t number, bool durable = true) {
    WriteOptions options;
    options.durable = durable;
    return engine.write("t", batch(number), options);
  }
  static Result<Selection> all(Engine& engine, TimeRange range = kAllTime) {
    SelectRequest request;
    request.type = type_of(kCpuType);
    request.range = range;
    auto answer = engine.select("t", request);
    if (!answer) return std::move(answer).error();
    return (*answer)[0];
  }
  std::string warnings() {
    const MutexLock lock(mutex_);
    return warnings_;
  }
  std::vector<fs::path> files(std::string_view extension) const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(options_.directory)) {
      if (entry.path().extension() == extension && entry.file_size() > 0)
        out.push_back(entry.path());
    }
    return out;
  }

  // The file with the profiles that were written first. REQUIRES: no engine is open
  fs::path oldest_profiles() const {
    std::vector<std::string> names;
    rocksdb::DB::ListColumnFamilies({}, options_.directory, &names).PermitUncheckedError();
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    families.reserve(names.size());
    for (const std::string& name : names)
      families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* raw = nullptr;
    EXPECT_TRUE(
        rocksdb::DB::OpenForReadOnly({}, options_.directory, families, &handles, &raw).ok());
    const std::unique_ptr<rocksdb::DB> db(raw);
    std::vector<rocksdb::LiveFileMetaData> live;
    db->GetLiveFilesMetaData(&live);
    std::string name;
    uint64_t first = UINT64_MAX;
    for (const rocksdb::LiveFileMetaData& file : live) {
      if (file.column_family_name != "raw" || file.smallest_seqno >= first) continue;
      first = file.smallest_seqno;
      name = file.name;
    }
    for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
    return options_.directory + name;
  }

  TemporaryFolder directory_;
  RocksdbOptions options_;
  Mutex mutex_;
  std::string warnings_ GUARDED_BY(mutex_);
};

TEST_F(DurabilityTest, AFullDiskRefusesWritesAndServesReadsUntilThereIsRoom) {
  FaultyFileSystem files;
  options_.env = files.env();
  auto engine = open();
  ASSERT_TRUE(write(*engine, 0));
  files.set_full(true);
  for (int64_t i = 1; i < 4; ++i) {
    const auto refused = write(*engine, i);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
    EXPECT_FALSE(refused.error().hint.empty());
  }
  const auto meanwhile = all(*engine);
  ASSERT_TRUE(meanwhile);
  EXPECT_EQ(meanwhile->total, 1);
  files.set_full(false);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!write(*engine, 1) && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  for (int64_t i = 2; i < 4; ++i) {
    const auto taken = write(*engine, i);
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_EQ(taken->profiles, 1U);
  }
  EXPECT_EQ(all(*engine)->total, 1 + 2 + 3 + 4);
  engine.reset();
  engine = open();
  EXPECT_EQ(all(*engine)->total, 1 + 2 + 3 + 4);
  EXPECT_EQ(weights_of(*all(*engine)).size(), 4U);
}

TEST_F(DurabilityTest, ARecoveryThatDoesNotEndIsReported) {
  FaultyFileSystem files;
  options_.env = files.env();
  options_.recovery_limit = std::chrono::milliseconds(50);
  auto engine = open();
  ASSERT_TRUE(write(*engine, 0));
  files.set_full(true);
  ASSERT_FALSE(write(*engine, 1));
  EXPECT_EQ(engine->needs_restart(), "");
  files.set_stuck(true);
  files.set_full(false);
  // Tries to recover, and does not come back.
  std::jthread writer([&engine] {
    while (!write(*engine, 1)) std::this_thread::yield();
  });
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (engine->needs_restart().empty() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::yield();
  EXPECT_THAT(engine->needs_restart(), HasSubstr("does not end"));
  EXPECT_FALSE(write(*engine, 2));
  EXPECT_THAT(warnings(), HasSubstr("restart the server"));
  EXPECT_EQ(all(*engine)->total, 1);
  files.set_stuck(false);
  writer.join();
  EXPECT_EQ(engine->needs_restart(), "");
  ASSERT_TRUE(write(*engine, 2));
  engine.reset();
  EXPECT_EQ(all(*open())->total, 1 + 2 + 3);
}

// Fails at any byte of any file, is repaired, and goes on at once; what a kill would leave is
// opened each time. Small memtables make tables and manifests fail, too.
TEST_F(DurabilityTest, NothingAcknowledgedIsLostAroundAFailureOfTheDisk) {
  FaultyFileSystem files;
  options_.env = files.env();
  options_.reserve_bytes = 1 << 20;
  std::mt19937_64 random(20261116);
  int64_t next = 0;
  for (const bool is_device_error : {false, true}) {
    for (const uint64_t memtable : {uint64_t{64} << 20, uint64_t{32} << 10}) {
      options_.memtable_bytes = memtable;
      options_.directory = directory_.path() + "/data" + std::to_string(next);
      auto engine = open();
      ASSERT_NE(engine, nullptr);
      std::set<int64_t> acknowledged;
      for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 10; ++i, ++next) {
          ASSERT_TRUE(write(*engine, next));
          acknowledged.insert(next);
        }
        files.set_room(random() % (memtable < (1 << 20) ? 200'000 : 3000), is_device_error);
        for (int refused = 0; refused < 3; ++next) {
          if (write(*engine, next)) {
            acknowledged.insert(next);
          } else {
            ++refused;
          }
        }
        ASSERT_TRUE(all(*engine)) << "reads go on";
        files.set_full(false);
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        while (!write(*engine, next)) {
          ASSERT_LT(std::chrono::steady_clock::now(), deadline) << warnings();
          std::this_thread::yield();
        }
        acknowledged.insert(next++);
        for (int i = 0; i < 20; ++i, ++next) {
          if (write(*engine, next)) acknowledged.insert(next);
        }
        // Closing writes nothing that a kill would not have left.
        engine.reset();
        engine = open();
        ASSERT_NE(engine, nullptr) << warnings();
        PointsRequest request;
        request.type = type_of(kCpuType);
        request.range = kAllTime;
        const auto found = engine->points("t", request);
        ASSERT_TRUE(found) << found.error().message;
        std::set<int64_t> missing = acknowledged;
        for (const ProfilePoint& point : *found) missing.erase(point.value - 1);
        EXPECT_EQ(missing.size(), 0U) << "of " << acknowledged.size() << ", round " << round;
      }
    }
  }
}

TEST_F(DurabilityTest, AMissingLogIsRefusedByName) {
  auto engine = open();
  for (int64_t i = 0; i < 3; ++i) ASSERT_TRUE(write(*engine, i));
  engine.reset();
  const auto logs = files(".log");
  ASSERT_EQ(logs.size(), 1U);
  fs::remove(logs[0]);
  const auto refused = open_rocksdb_engine(options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kIo);
  EXPECT_NE(refused.error().message.find(logs[0].filename().string()), std::string::npos)
      << refused.error().message;
  fs::remove(options_.directory + "/wal-files");
  EXPECT_NE(open(), nullptr) << "as the hint says";
}

TEST_F(DurabilityTest, AHoleInTheLogEndsTheReplay) {
  auto engine = open();
  // Blocks of the log are 32 KiB; a damaged one must not be stepped over.
  for (int64_t i = 0; i < 1500; ++i) ASSERT_TRUE(write(*engine, i, false));
  engine.reset();
  const auto logs = files(".log");
  ASSERT_EQ(logs.size(), 1U);
  ASSERT_GT(fs::file_size(logs[0]), 4U * 32768);
  {
    std::fstream log(logs[0], std::ios::in | std::ios::out | std::ios::binary);
    log.seekp(40'000);
    log << "damage";
  }
  engine = open();
  const auto found = all(*engine);
  ASSERT_TRUE(found);
  const auto count = static_cast<int64_t>(found->profiles);
  EXPECT_GT(count, 0);
  EXPECT_LT(count, 1000);
  EXPECT_EQ(found->total, count * (count + 1) / 2) << "the first ones, without a gap";
  EXPECT_NE(warnings().find("are lost"), std::string::npos) << warnings();
}

TEST_F(DurabilityTest, OneBackupAtATime) {
  auto engine = open();
  for (int64_t i = 0; i < 20; ++i) ASSERT_TRUE(write(*engine, i));
  std::atomic<int> made = 0;
  std::atomic<int> refused = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        const Status done = engine->backup(directory_.path() + "/backup");
        if (done.ok()) {
          ++made;
        } else {
          EXPECT_EQ(done.error().code, ErrorCode::kTooMany) << done.error().message;
          ++refused;
        }
      });
    }
  }
  EXPECT_GE(made, 1);
  EXPECT_EQ(made + refused, 8);
  RocksdbOptions restored = options_;
  restored.directory = directory_.path() + "/restored";
  ASSERT_TRUE(restore_backup(directory_.path() + "/backup", restored.directory));
  EXPECT_EQ(all(**open_rocksdb_engine(restored))->profiles, 20U);
}

TEST_F(DurabilityTest, WhatWasAcknowledgedSurvivesAPowerCut) {
  FaultyFileSystem files;
  options_.env = files.env();
  options_.memtable_bytes = 64 << 10;  // files come and go meanwhile
  auto engine = open();
  int64_t total = 0;
  for (int64_t i = 0; i < 60; ++i) {
    ASSERT_TRUE(write(*engine, i));
    total += i + 1;
    if (i % 20 == 5) {
      ASSERT_TRUE(engine->maintain());
    }
    if (i % 7 != 0) continue;
    RocksdbOptions after = options_;
    after.env = nullptr;
    after.directory = directory_.path() + "/cut" + std::to_string(i);
    files.copy_synced(options_.directory, after.directory);
    auto again = open_rocksdb_engine(after);
    ASSERT_TRUE(again) << again.error().message;
    const auto found = all(**again);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->total, total);
    EXPECT_EQ(found->profiles, static_cast<uint64_t>(i + 1));
  }
}

TEST_F(DurabilityTest, WithoutSyncAPowerCutTakesATailAndNoMore) {
  FaultyFileSystem files;
  options_.env = files.env();
  auto engine = open();
  for (int64_t i = 0; i < 20; ++i) ASSERT_TRUE(write(*engine, i, false));
  ASSERT_TRUE(engine->flush());
  for (int64_t i = 20; i < 40; ++i) ASSERT_TRUE(write(*engine, i, false));
  RocksdbOptions after = options_;
  after.env = nullptr;
  after.directory = directory_.path() + "/cut";
  files.copy_synced(options_.directory, after.directory);
  auto again = std::move(open_rocksdb_engine(after)).value();
  const auto found = all(*again);
  ASSERT_TRUE(found);
  EXPECT_GE(found->profiles, 20U);
  const auto count = static_cast<int64_t>(found->profiles);
  EXPECT_EQ(found->total, count * (count + 1) / 2) << "the first ones, without a gap";
}

TEST_F(DurabilityTest, ACutLogServesWhatIsBeforeTheCut) {
  auto engine = open();
  for (int64_t i = 0; i < 30; ++i) ASSERT_TRUE(write(*engine, i));
  engine.reset();
  const auto logs = files(".log");
  ASSERT_EQ(logs.size(), 1U);
  fs::resize_file(logs[0], fs::file_size(logs[0]) - 20);
  engine = open();
  const auto found = all(*engine);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->profiles, 29U);
  EXPECT_EQ(found->total, 29 * 30 / 2);
}

TEST_F(DurabilityTest, ADamagedLogServesWhatIsBeforeTheDamageAndSaysSo) {
  auto engine = open();
  for (int64_t i = 0; i < 30; ++i) ASSERT_TRUE(write(*engine, i));
  engine.reset();
  const auto logs = files(".log");
  ASSERT_EQ(logs.size(), 1U);
  {
    std::fstream log(logs[0], std::ios::in | std::ios::out | std::ios::binary);
    log.seekp(static_cast<std::streamoff>(fs::file_size(logs[0]) / 2));
    log << "damage";
  }
  engine = open();
  const auto found = all(*engine);
  ASSERT_TRUE(found);
  EXPECT_LT(found->profiles, 30U);
  EXPECT_GT(found->profiles, 5U);
  const auto count = static_cast<int64_t>(found->profiles);
  EXPECT_EQ(found->total, count * (count + 1) / 2);
  EXPECT_NE(warnings().find("orruption"), std::string::npos) << warnings();
}

TEST_F(DurabilityTest, ADamagedFileIsNamedAndOtherDataIsServed) {
  auto engine = open();
  ASSERT_TRUE(write(*engine, 0));
  ASSERT_TRUE(engine->backup(directory_.path() + "/flushed"));  // writes all to files
  for (int64_t i = 0; i < 5; ++i) ASSERT_TRUE(write(*engine, 10'000 + i));
  ASSERT_TRUE(engine->backup(directory_.path() + "/flushed"));
  engine.reset();
  const fs::path oldest = oldest_profiles();
  {
    std::fstream file(oldest, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4);
    file << "damage";
  }
  engine = open();
  const auto broken = all(*engine);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::kIo);
  EXPECT_FALSE(broken.error().hint.empty());
  const auto rest = all(*engine, {kStartNs + kDay, INT64_MAX});
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->profiles, 5U);
  EXPECT_TRUE(write(*engine, 20'000)) << "writes go on";
}

TEST_F(DurabilityTest, ASecondOneOnTheSameDirectoryIsToldSo) {
  const auto engine = open();
  const auto second = open_rocksdb_engine(options_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(second.error().message.find("another process"), std::string::npos)
      << second.error().message;
}

// Runs on the database as RocksDB knows it.
void with_plain_database(const std::string& directory, const auto& work) {
  rocksdb::Options options;
  std::vector<std::string> names;
  ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(options, directory, &names).ok());
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  families.reserve(names.size());
  for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, directory, families, &handles, &db).ok());
  work(*db, handles);
  for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
  delete db;
}

// Roll-ups of totals as they were before schema 5; nothing for others and for old ones.
std::string as_version_1(const std::string& key, const std::string& value) {
  using namespace rocks;
  if (key.size() < 13 || value.empty() || value[0] != 2) return {};
  std::string out(1, 1);
  const auto bucket = static_cast<Bucket>(big_endian(key, key.size() - 4, 4));
  if (key[4] == static_cast<char>(Level::kSeriesHourTotals)) {
    HourTotals totals;
    EXPECT_TRUE(totals.parse(value, bucket));
    put_varint(out, totals.summary().profiles);
    put_signed(out, totals.summary().sum);
    int64_t last = bucket_start_ns(bucket, kHour);
    EXPECT_TRUE(totals.for_each([&](const TimedTotal& total) {
      put_varint(out, static_cast<uint64_t>(total.time_ns - last));
      put_signed(out, total.value);
      last = total.time_ns;
    }));
    return out;
  }
  if (key[4] != static_cast<char>(Level::kSeriesDayTotals)) return {};
  std::vector<HourSummary> hours;
  EXPECT_TRUE(decode_day_totals(value, bucket, hours));
  put_varint(out, hours.size());
  for (const HourSummary& hour : hours) {
    out.push_back(static_cast<char>(hour.hour - first_hour_of(bucket)));
    put_varint(out, hour.profiles);
    put_signed(out, hour.sum);
  }
  return out;
}

TEST_F(DurabilityTest, AnotherSchemaIsRefused) {
  open().reset();
  with_plain_database(options_.directory,
                      [](rocksdb::DB& db, const auto&) { ASSERT_TRUE(db.Put({}, "v", "1").ok()); });
  const auto refused = open_rocksdb_engine(options_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(refused.error().message.find("version 1"), std::string::npos);
}

TEST_F(DurabilityTest, TheSchemaBeforeIsTakenAndRaised) {
  // Profiles of 90 minutes, so that every hour has parts of those that started before it.
  auto engine = open();
  for (int64_t i = 0; i < 60; ++i) {
    ProfileSpec spec;
    spec.labels = {{"service_name", "web"}};
    spec.time_ns = kStartNs + i * 50 * kMinuteNs;
    spec.duration_ns = 90 * kMinuteNs;
    spec.samples = {{"main", 1000 + i}};
    ASSERT_TRUE(engine->write("t", batch_of({spec}), {}));
  }
  ASSERT_TRUE(engine->maintain());
  const auto charts = [&] {
    std::string text;
    for (const int64_t step : {7 * kMinuteNs, kHour, kDay}) {
      TotalsRequest request;
      request.type = type_of(kCpuType);
      request.range = {kStartNs + 30 * kMinuteNs, kStartNs + 3 * kDay};
      request.step_ns = step;
      const auto answer = engine->totals("t", request);
      EXPECT_TRUE(answer) << answer.error().message;
      if (answer) text += text_of(answer->at(0)) + "\n";
    }
    return text;
  };
  const std::string expected = charts();
  for (const std::string before : {"3", "4"}) {
    engine.reset();
    with_plain_database(options_.directory, [&](rocksdb::DB& db, const auto& handles) {
      ASSERT_TRUE(db.Put({}, "v", before).ok());
      // What version 4 did not have: how long profiles are; and its totals are sums alone.
      const auto each = [&](rocksdb::ColumnFamilyHandle* family, const auto& visit) {
        const std::unique_ptr<rocksdb::Iterator> at(db.NewIterator({}, family));
        for (at->SeekToFirst(); at->Valid(); at->Next())
          visit(at->key().ToString(), at->value().ToString());
      };
      size_t rewritten = 0;
      for (rocksdb::ColumnFamilyHandle* family : handles) {
        each(family, [&](const std::string& key, const std::string& value) {
          if (family->GetName() == "default" && key[0] == 'l') {
            ASSERT_TRUE(db.Delete({}, family, key).ok());
          }
          if (family->GetName() != "rollup") return;
          const std::string old = as_version_1(key, value);
          if (old.empty()) return;
          ++rewritten;
          ASSERT_TRUE(db.Put({}, family, key, old).ok());
        });
      }
      // The second time they still are: hours are not rolled up again without a reason.
      if (before == "3") {
        EXPECT_GT(rewritten, 40U);
      }
    });
    engine = open();
    EXPECT_EQ(charts(), expected);
    engine.reset();
    with_plain_database(options_.directory, [](rocksdb::DB& db, const auto&) {
      std::string version;
      ASSERT_TRUE(db.Get({}, "v", &version).ok());
      EXPECT_EQ(version, "5");
    });
    engine = open();
    EXPECT_EQ(charts(), expected) << "after another start";
  }
}

TEST_F(DurabilityTest, RestoreWantsAnEmptyDirectoryAndABackup) {
  fs::create_directories(options_.directory);
  std::ofstream(options_.directory + "/something") << "here";
  EXPECT_EQ(restore_backup(directory_.path(), options_.directory).error().code, ErrorCode::kUsage);
  EXPECT_EQ(restore_backup(directory_.path() + "/none", directory_.path() + "/new").error().code,
            ErrorCode::kNotFound);
}

TEST_F(DurabilityTest, WritersOfOneServiceDoNotLoseOrDoubleAnything) {
  options_.background = true;
  options_.background_interval = std::chrono::milliseconds(1);
  options_.dictionary_bytes = 1;
  auto engine = open();
  constexpr int64_t kEach = 60;
  {
    std::vector<std::jthread> writers;
    for (int64_t w = 0; w < 4; ++w) {
      writers.emplace_back([&, w] {
        for (int64_t i = 0; i < kEach; ++i) {
          ASSERT_TRUE(engine->write("t", batch(w * kEach + i, i % 3 == 0 ? "api" : "web"), {}));
          if (i % 10 == 0) {
            EXPECT_TRUE(all(*engine));
          }
        }
      });
    }
  }
  const auto check = [&] {
    const auto found = all(*engine);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->profiles, static_cast<uint64_t>(4 * kEach));
    EXPECT_EQ(found->total, 4 * kEach * (4 * kEach + 1) / 2);
  };
  check();
  ASSERT_TRUE(engine->maintain());
  check();
  engine.reset();
  engine = open();
  check();
}

}  // namespace
}  // namespace vesta::test
