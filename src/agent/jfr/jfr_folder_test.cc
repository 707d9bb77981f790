#include "agent/jfr/jfr_folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>

#include "agent/jfr/test_folder.h"
#include "base/file.h"
#include "base/mutex.h"
#include "formats/common/compression.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class JfrFolderTest : public ::testing::Test {
 protected:
  JfrFolderTest() {
    std::filesystem::create_directory(in());
    options_.input_dirs = {in()};
    options_.state_file = folder_.path("jfr-shipped");
    options_.settle = 100ms;
    options_.give_up = 300ms;
    options_.first_retry = 10ms;
    options_.owner.host_name = "node-1";
    options_.report = [this](const Error& error) {
      const MutexLock lock(mutex_);
      reports_.push_back(error.message);
    };
  }
  std::string in() const { return folder_.path("in"); }
  std::string in(const std::string& name) const { return in() + "/" + name; }
  std::vector<std::string> reports() const {
    const MutexLock lock(mutex_);
    return reports_;
  }
  void start() {
    folder_under_test_.reset();
    auto started = JfrFolder::start(options_, received_.ship());
    ASSERT_TRUE(started.ok()) << started.error().message;
    folder_under_test_ = std::move(*started);
  }
  void put(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  bool arrives(size_t count) {
    return wait_for([&] { return received_.count() >= count; });
  }
  // True when nothing comes for longer than any delay that is set here.
  bool nothing_more_comes(size_t count) {
    const auto until = std::chrono::steady_clock::now() + 4 * options_.settle;
    return !wait_for([&] {
      return received_.count() > count || std::chrono::steady_clock::now() > until;
    }) || received_.count() == count;
  }
  JfrFolderStats stats() const { return folder_under_test_->stats(); }

  TemporaryFolder folder_;
  JfrFolderOptions options_;
  Received received_;
  mutable Mutex mutex_;
  std::vector<std::string> reports_ GUARDED_BY(mutex_);
  std::unique_ptr<JfrFolder> folder_under_test_;
};

TEST_F(JfrFolderTest, ShipsWhatIsThereAndWhatComes) {
  put(in("checkout-1.jfr"), recording(1));
  put(in("notes.txt"), "no recording");
  start();
  ASSERT_TRUE(arrives(1));
  EXPECT_EQ(received_.label(0, "service.name"), "checkout");
  EXPECT_EQ(received_.label(0, "host.name"), "node-1");
  EXPECT_EQ(received_.label(0, "profile.source"), "jfr");
  put(in("b.jfr"), recording(2));
  put(in("c.jfr.gz"), gzip(recording(3)));
  ASSERT_TRUE(arrives(3));
  EXPECT_THAT(received_.samples(), UnorderedElementsAre(1, 2, 3));
  ASSERT_TRUE(write_file(in("d.jfr"), recording(4)).ok());  // moved into place
  ASSERT_TRUE(arrives(4));
  EXPECT_TRUE(wait_for([&] { return stats().files_shipped == 4; }));
  EXPECT_EQ(stats().files_broken, 0U);
}

TEST_F(JfrFolderTest, OldestFirst) {
  for (int i = 1; i <= 5; ++i) {
    const std::string path = in(std::to_string(9 - i) + ".jfr");
    put(path, recording(i));
    const timespec time{1'700'000'000 + i, 0};
    const timespec times[2] = {time, time};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  start();
  ASSERT_TRUE(arrives(5));
  EXPECT_THAT(received_.samples(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(JfrFolderTest, AFileThatIsBeingWrittenIsLeftAlone) {
  const std::string bytes = recording(5);
  std::ofstream before(in("before.jfr"), std::ios::binary);
  before << bytes << std::flush;  // whole, but its writer may go on
  start();
  std::ofstream after(in("after.jfr"), std::ios::binary);
  after << bytes.substr(0, 100) << std::flush;
  EXPECT_TRUE(nothing_more_comes(0));
  before << recording(2) << std::flush;
  before.close();
  ASSERT_TRUE(arrives(1));
  EXPECT_THAT(received_.samples(), ElementsAre(7));
  after << bytes.substr(100);
  after.close();
  ASSERT_TRUE(arrives(2));
  EXPECT_THAT(received_.samples(), ElementsAre(7, 5));
}

TEST_F(JfrFolderTest, ARecordingThatWasLeftUnfinishedIsReadAsFarAsItGoes) {
  put(in("killed.jfr"), recording(3, 1));
  start();
  ASSERT_TRUE(arrives(1));
  EXPECT_THAT(received_.samples(), ElementsAre(3));
}

TEST_F(JfrFolderTest, RemembersWhatWasShippedAcrossRestarts) {
  put(in("a.jfr"), recording(1));
  start();
  ASSERT_TRUE(arrives(1));
  folder_under_test_->stop();
  put(in("b.jfr"), recording(2));
  start();
  ASSERT_TRUE(arrives(2));
  EXPECT_TRUE(nothing_more_comes(2));
  EXPECT_THAT(received_.samples(), ElementsAre(1, 2));
  // Another name or time is still the same recording.
  std::filesystem::rename(in("a.jfr"), in("moved.jfr"));
  std::filesystem::last_write_time(in("b.jfr"), std::filesystem::file_time_type::clock::now());
  folder_under_test_->stop();
  start();
  EXPECT_TRUE(wait_for([&] { return stats().files_known >= 1; }));
  EXPECT_TRUE(nothing_more_comes(2));
  // Another content is not.
  put(in("b.jfr"), recording(7));
  ASSERT_TRUE(arrives(3));
}

TEST_F(JfrFolderTest, ANoteGoesWithItsFile) {
  put(in("a.jfr"), recording(1));
  put(in("b.jfr"), recording(2));
  start();
  ASSERT_TRUE(arrives(2));
  EXPECT_TRUE(wait_for([&] { return stats().files_remembered == 2; }));
  std::filesystem::remove(in("a.jfr"));
  EXPECT_TRUE(wait_for([&] { return stats().files_remembered == 1; }));
  folder_under_test_->stop();
  std::filesystem::remove(in("b.jfr"));
  start();
  EXPECT_TRUE(wait_for([&] { return stats().folders_watched == 1; }));
  EXPECT_EQ(stats().files_remembered, 0U);
}

TEST_F(JfrFolderTest, RenamingAFileWhileItIsWatchedShipsNothing) {
  put(in("a.jfr"), recording(1));
  start();
  ASSERT_TRUE(arrives(1));
  std::filesystem::rename(in("a.jfr"), in("z.jfr"));
  EXPECT_TRUE(wait_for([&] { return stats().files_known == 1; }));
  EXPECT_TRUE(wait_for([&] { return stats().files_remembered == 1; }));
  EXPECT_EQ(received_.count(), 1U);
}

TEST_F(JfrFolderTest, WhatCannotBeHandedOnIsOfferedAgain) {
  received_.refuse(3);
  put(in("a.jfr"), recording(1));
  start();
  ASSERT_TRUE(arrives(1));
  EXPECT_EQ(stats().ship_failures, 3U);
  EXPECT_THAT(received_.samples(), ElementsAre(1));
}

TEST_F(JfrFolderTest, ABrokenFileIsReportedOnceUntilItChanges) {
  put(in("a.jfr"), recording(1).substr(0, 300));
  start();
  ASSERT_TRUE(wait_for([&] { return reports().size() == 1; }));
  EXPECT_THAT(reports()[0], HasSubstr(in("a.jfr")));
  folder_under_test_->stop();
  start();
  put(in("b.jfr"), recording(2));
  ASSERT_TRUE(arrives(1));
  EXPECT_EQ(reports().size(), 1U) << "not again after a restart";
  EXPECT_EQ(stats().files_broken, 0U);
  put(in("a.jfr"), recording(1));
  ASSERT_TRUE(arrives(2));
  EXPECT_THAT(received_.samples(), ElementsAre(2, 1));
}

TEST_F(JfrFolderTest, FoldersBelowAreWatchedAsTheyComeAndGo) {
  start();
  std::filesystem::create_directories(in("x/y"));
  put(in("x/y/orders.jfr"), recording(1));
  ASSERT_TRUE(arrives(1));
  put(in("x/cart.jfr"), recording(2));
  ASSERT_TRUE(arrives(2));
  std::filesystem::rename(in("x"), in("z"));
  put(in("z/y/late.jfr"), recording(3));
  ASSERT_TRUE(arrives(3));
  std::filesystem::remove_all(in("z"));
  EXPECT_TRUE(wait_for([&] { return stats().files_remembered == 0; }));
  EXPECT_TRUE(wait_for([&] { return stats().folders_watched == 1; }));
}

TEST_F(JfrFolderTest, OnlyTheFolderItselfWhenSaid) {
  options_.recursive = false;
  std::filesystem::create_directory(in("x"));
  put(in("x/below.jfr"), recording(1));
  put(in("here.jfr"), recording(2));
  start();
  ASSERT_TRUE(arrives(1));
  EXPECT_TRUE(nothing_more_comes(1));
  EXPECT_THAT(received_.samples(), ElementsAre(2));
}

TEST_F(JfrFolderTest, AFolderMayComeLaterGoAndComeAgain) {
  const std::string late = folder_.path("not/yet/there");
  options_.input_dirs = {late + "/", in()};
  start();
  ASSERT_TRUE(wait_for([&] { return stats().folders_watched >= 2; }));
  std::filesystem::create_directories(late);
  put(late + "/a.jfr", recording(1));
  ASSERT_TRUE(arrives(1));
  std::filesystem::remove_all(folder_.path("not"));
  std::filesystem::create_directories(late);
  put(late + "/b.jfr", recording(2));
  ASSERT_TRUE(arrives(2));
  std::filesystem::rename(late, folder_.path("elsewhere"));
  std::filesystem::create_directories(late);
  put(late + "/c.jfr", recording(3));
  ASSERT_TRUE(arrives(3));
  put(in("d.jfr"), recording(4));
  ASSERT_TRUE(arrives(4));
}

TEST_F(JfrFolderTest, LinksAndSpecialFilesAreNotFollowed) {
  put(folder_.path("secret.jfr"), recording(9));
  std::filesystem::create_symlink(folder_.path("secret.jfr"), in("link.jfr"));
  std::filesystem::create_directory(folder_.path("outside"));
  put(folder_.path("outside/other.jfr"), recording(8));
  std::filesystem::create_directory_symlink(folder_.path("outside"), in("folder"));
  ASSERT_EQ(::mkfifo(in("pipe.jfr").c_str(), 0600), 0);
  start();
  std::filesystem::create_symlink(folder_.path("secret.jfr"), in("link2.jfr"));
  put(in("mine.jfr"), recording(1));
  ASSERT_TRUE(arrives(1));
  EXPECT_TRUE(nothing_more_comes(1));
  EXPECT_THAT(received_.samples(), ElementsAre(1));
}

TEST_F(JfrFolderTest, MoreEventsThanTheKernelKeepsLoseNoFile) {
  // The thread is busy with the first file while the queue runs over.
  std::atomic<bool> go = false;
  std::atomic<int> files = 0;
  auto started = JfrFolder::start(options_, [&](const ProfileBatch&) -> Status {
    wait_for([&] { return go.load(); }, 60s);
    ++files;
    return {};
  });
  ASSERT_TRUE(started.ok());
  folder_under_test_ = std::move(*started);
  put(in("first.jfr"), recording(1));
  int limit = 16384;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> limit;
  for (int i = 0; i < limit / 2 + 1000; ++i) {  // two events each
    const UniqueFd fd(::open(in("noise").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    ::unlink(in("noise").c_str());
  }
  put(in("late.jfr"), recording(2));
  go = true;
  EXPECT_TRUE(wait_for([&] { return files == 2; }));
  EXPECT_TRUE(wait_for([&] { return stats().queue_overflows > 0; }));
}

TEST_F(JfrFolderTest, ARelativeFolderIsRefused) {
  options_.input_dirs = {"logs"};
  EXPECT_EQ(JfrFolder::start(options_, received_.ship()).error().code, ErrorCode::kUsage);
}

// Of all threads of this process: how often one gave up its CPU.
uint64_t sleeps() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_nvcsw);
}

TEST_F(JfrFolderTest, SleepsWhileNothingHappens) {
  put(in("a.jfr"), recording(1));
  start();
  ASSERT_TRUE(arrives(1));
  std::this_thread::sleep_for(300ms);
  const uint64_t before = sleeps();
  std::this_thread::sleep_for(1s);
  EXPECT_LE(sleeps() - before, 3U);
}

}  // namespace
}  // namespace vesta::agent
