#include "agent/export/queue/disk_queue.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "agent/export/queue/queue_position.h"
#include "agent/export/queue/test_clock.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using test::TestClock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

class DiskQueueTest : public ::testing::Test {
 protected:
  DiskQueueTest() { options_.folder = folder_.path("queue"); }

  std::unique_ptr<DiskQueue> open() {
    auto queue = DiskQueue::open(options_, clock_);
    EXPECT_TRUE(queue.ok()) << queue.error().message;
    return queue ? std::move(*queue) : nullptr;
  }
  static Status push(DiskQueue& queue, const std::string& payload, uint32_t profiles = 1) {
    return queue.push([&](bool) { return QueueItem{profiles, payload}; });
  }
  // Everything, in order.
  static std::vector<std::string> drain(DiskQueue& queue) {
    std::vector<std::string> out;
    while (const auto record = queue.front()) {
      out.push_back(record->payload);
      EXPECT_TRUE(queue.advance(record->place, record->profiles));
    }
    return out;
  }
  std::vector<std::string> segments() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(options_.folder)) {
      if (entry.path().extension() == ".seg") out.push_back(entry.path());
    }
    std::ranges::sort(out);
    return out;
  }
  static std::string read(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }
  static void write(const std::string& path, std::string_view bytes) {
    std::ofstream(path, std::ios::trunc) << bytes;
  }

  TemporaryFolder folder_;
  DiskQueueOptions options_;
  TestClock clock_;
};

TEST_F(DiskQueueTest, GivesBackWhatItWasGivenInOrder) {
  auto queue = open();
  EXPECT_FALSE(queue->front().has_value());
  ASSERT_TRUE(push(*queue, "one", 3).ok());
  ASSERT_TRUE(push(*queue, "two", 2).ok());
  EXPECT_EQ(queue->stats().profiles, 5U);
  const auto first = queue->front();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->payload, "one");
  EXPECT_EQ(first->profiles, 3U);
  EXPECT_THAT(drain(*queue), ElementsAre("one", "two"));
  EXPECT_EQ(queue->stats().profiles, 0U);
}

TEST_F(DiskQueueTest, DoesNotFollowLinksThatOthersPlanted) {
  const std::string elsewhere = folder_.path("elsewhere");
  fs::create_directories(elsewhere);
  fs::permissions(elsewhere, fs::perms::all);
  fs::create_directory_symlink(elsewhere, options_.folder);
  EXPECT_FALSE(DiskQueue::open(options_, clock_).ok());
  EXPECT_EQ(fs::status(elsewhere).permissions(), fs::perms::all);
  EXPECT_TRUE(fs::is_empty(elsewhere));

  fs::remove(options_.folder);
  fs::create_directories(options_.folder);
  const std::string victim = folder_.path("victim");
  write(victim, "precious");
  fs::create_symlink(victim, options_.folder + "/position");
  EXPECT_FALSE(DiskQueue::open(options_, clock_).ok());
  EXPECT_EQ(read(victim), "precious");
}

TEST_F(DiskQueueTest, KeepsOrderAndPositionAcrossReopening) {
  options_.segment_bytes = 100;  // about two records a file
  {
    auto queue = open();
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(push(*queue, "record " + std::to_string(i)).ok());
    for (int i = 0; i < 3; ++i) queue->advance(queue->front()->place, 1);
  }
  auto queue = open();
  EXPECT_EQ(queue->stats().recovered_profiles, 7U);
  ASSERT_TRUE(push(*queue, "new").ok());
  EXPECT_THAT(drain(*queue), ElementsAre("record 3", "record 4", "record 5", "record 6", "record 7",
                                         "record 8", "record 9", "new"));
}

TEST_F(DiskQueueTest, RemembersHowMuchOfARecordIsDone) {
  {
    auto queue = open();
    ASSERT_TRUE(push(*queue, "many", 10).ok());
    EXPECT_TRUE(queue->advance(queue->front()->place, 4));
    EXPECT_EQ(queue->stats().profiles, 6U);
  }
  auto queue = open();
  const auto record = queue->front();
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->done, 4U);
  EXPECT_EQ(queue->stats().profiles, 6U);
  EXPECT_TRUE(queue->advance(record->place, 10));
  EXPECT_EQ(queue->stats().profiles, 0U);
}

TEST_F(DiskQueueTest, TakesSpaceBack) {
  auto queue = open();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(push(*queue, std::string(100'000, 'x')).ok());
    EXPECT_GE(queue->stats().bytes, 100'000U);
    drain(*queue);
    EXPECT_EQ(queue->stats().bytes, 0U);
    EXPECT_TRUE(segments().empty());
  }
}

TEST_F(DiskQueueTest, SaysWhichRecordsBeginAFile) {
  options_.segment_bytes = 100;
  auto queue = open();
  std::vector<bool> firsts;
  const auto note = [&](bool is_first) {
    firsts.push_back(is_first);
    return QueueItem{1, "0123456789"};
  };
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(queue->push(note).ok());
  EXPECT_THAT(firsts, ElementsAre(true, false, true, false, true));
  firsts.clear();
  drain(*queue);
  ASSERT_TRUE(queue->push(note).ok());
  EXPECT_THAT(firsts, ElementsAre(true));
}

TEST_F(DiskQueueTest, CutAtAnyByteItGivesWhatIsWhole) {
  {
    auto queue = open();
    for (const char* text : {"first", "second", "third"}) ASSERT_TRUE(push(*queue, text).ok());
  }
  const std::string path = segments()[0];
  const std::string whole = read(path);
  const size_t record = kRecordHeadBytes;
  const size_t ends[] = {8 + record + 5, 8 + 2 * record + 11, 8 + 3 * record + 16};
  ASSERT_EQ(whole.size(), ends[2]);
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    fs::remove_all(options_.folder);
    fs::create_directories(options_.folder);
    write(path, whole.substr(0, cut));
    auto queue = open();
    ASSERT_TRUE(push(*queue, "after").ok());
    std::vector<std::string> expected;
    if (cut >= ends[0]) expected.emplace_back("first");
    if (cut >= ends[1]) expected.emplace_back("second");
    expected.emplace_back("after");
    EXPECT_EQ(drain(*queue), expected) << "cut at " << cut;
    EXPECT_EQ(queue->stats().damaged, 0U) << "cut at " << cut;
  }
}

TEST_F(DiskQueueTest, PositionCutAtAnyByteCostsARepetitionAtMost) {
  {
    auto queue = open();
    for (const char* text : {"first", "second", "third"}) ASSERT_TRUE(push(*queue, text).ok());
    queue->advance(queue->front()->place, 1);
  }
  const std::string segment = segments()[0];
  const std::string segment_bytes = read(segment);
  const std::string position = read(options_.folder + "/position");
  ASSERT_EQ(position.size(), 2 * kPositionSlotBytes);
  for (size_t cut = 0; cut <= position.size(); ++cut) {
    fs::remove_all(options_.folder);
    fs::create_directories(options_.folder);
    write(segment, segment_bytes);
    write(options_.folder + "/position", position.substr(0, cut));
    auto queue = open();
    const auto got = drain(*queue);
    ASSERT_GE(got.size(), 2U);
    EXPECT_EQ(got.back(), "third");
  }
}

TEST_F(DiskQueueTest, DamageAnywhereCostsOneRecordAndIsCounted) {
  {
    auto queue = open();
    for (const char* text : {"first", "second", "third"}) ASSERT_TRUE(push(*queue, text, 2).ok());
  }
  const std::string path = segments()[0];
  const std::string whole = read(path);
  const size_t begin = 8 + kRecordHeadBytes + 5;
  const size_t end = begin + kRecordHeadBytes + 6;
  for (size_t at = begin; at < end; ++at) {
    fs::remove_all(options_.folder);
    fs::create_directories(options_.folder);
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    write(path, bytes);
    auto queue = open();
    EXPECT_THAT(drain(*queue), ElementsAre("first", "third")) << "at " << at;
    const DiskQueueStats stats = queue->stats();
    EXPECT_EQ(stats.profiles, 0U);
    // A head that is gone takes the count of its profiles with it.
    const bool head_is_good = at >= begin + kRecordHeadBytes;
    EXPECT_EQ(stats.damaged, head_is_good ? 2U : 0U) << "at " << at;
    EXPECT_EQ(stats.recovered_profiles, head_is_good ? 6U : 4U);
  }
}

TEST_F(DiskQueueTest, TheOldestGoWhenItIsFull) {
  options_.max_bytes = 10'000;
  options_.segment_bytes = 1000;
  auto queue = open();
  const std::string filler(400, 'x');
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(push(*queue, std::to_string(i) + filler).ok());
    EXPECT_LE(queue->stats().bytes, options_.max_bytes);
  }
  const DiskQueueStats stats = queue->stats();
  EXPECT_GT(stats.expired_by_size, 70U);
  EXPECT_EQ(stats.expired_by_size + stats.profiles, 100U);
  const auto left = drain(*queue);
  EXPECT_EQ(left.size(), stats.profiles);
  EXPECT_EQ(left.back(), "99" + filler);
  EXPECT_EQ(queue->push([](bool) {
                   return QueueItem{1, std::string(20'000, 'x')};
                 })
                .error()
                .code,
            ErrorCode::kLimit);
}

TEST_F(DiskQueueTest, ARecordThatMadeRoomIsNotThereToBeDone) {
  options_.max_bytes = 1000;
  options_.segment_bytes = 100;
  auto queue = open();
  ASSERT_TRUE(push(*queue, std::string(400, 'a'), 5).ok());
  const auto sending = queue->front();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(push(*queue, std::string(400, 'b')).ok());
  EXPECT_FALSE(queue->advance(sending->place, 5));
  EXPECT_EQ(queue->stats().expired_by_size, 6U);
  EXPECT_EQ(queue->stats().profiles, 2U);
}

TEST_F(DiskQueueTest, RecordsExpireByAge) {
  options_.max_age_ns = 100 * kSecond;
  auto queue = open();
  ASSERT_TRUE(push(*queue, "old", 3).ok());
  clock_.advance(60 * kSecond);
  ASSERT_TRUE(push(*queue, "young").ok());
  clock_.advance(60 * kSecond);
  EXPECT_THAT(drain(*queue), ElementsAre("young"));
  EXPECT_EQ(queue->stats().expired_by_age, 3U);
}

TEST_F(DiskQueueTest, AClockThatJumpsExpiresNothing) {
  options_.max_age_ns = 100 * kSecond;
  const UnixNs now = clock_.unix_now();
  for (const UnixNs jump : {UnixNs(), now + 1'000'000 * kSecond, now - 1'000'000 * kSecond}) {
    auto queue = open();
    ASSERT_TRUE(push(*queue, "before").ok());
    clock_.set_wall(jump);
    ASSERT_TRUE(push(*queue, "after").ok());
    clock_.advance(50 * kSecond);
    queue.reset();
    // A restart in between changes nothing: the machine's own clock went on.
    queue = open();
    EXPECT_THAT(drain(*queue), ElementsAre("before", "after")) << jump.ns;
    ASSERT_TRUE(push(*queue, "last").ok());
    clock_.advance(101 * kSecond);
    EXPECT_TRUE(drain(*queue).empty()) << "real time still counts";
  }
}

TEST_F(DiskQueueTest, AfterARebootTheWallClockCounts) {
  options_.max_age_ns = 100 * kSecond;
  {
    auto queue = open();
    ASSERT_TRUE(push(*queue, "old").ok());
    clock_.advance(60 * kSecond);
    ASSERT_TRUE(push(*queue, "young").ok());
  }
  clock_.reboot();
  clock_.advance(60 * kSecond);
  auto queue = open();
  EXPECT_THAT(drain(*queue), ElementsAre("young"));
}

TEST_F(DiskQueueTest, AMachineThatComesUpWithoutAClockKeepsItsQueue) {
  options_.max_age_ns = 100 * kSecond;
  {
    auto queue = open();
    ASSERT_TRUE(push(*queue, "old").ok());
  }
  clock_.reboot();
  clock_.set_wall(UnixNs());
  auto queue = open();
  ASSERT_TRUE(push(*queue, "new").ok());
  EXPECT_THAT(drain(*queue), ElementsAre("old", "new"));
}

// A limit on the size of files fails in the middle of a write, as a full disk does.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = nullptr;
};

TEST_F(DiskQueueTest, AFullDiskIsAnErrorThatLosesNothing) {
  auto queue = open();
  ASSERT_TRUE(push(*queue, "first").ok());
  {
    const FileSizeLimit limit(200);
    const auto status = push(*queue, std::string(1000, 'x'));
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kUnavailable);
    EXPECT_THAT(status.error().hint, HasSubstr("free some space"));
  }
  EXPECT_EQ(queue->stats().profiles, 1U);
  ASSERT_TRUE(push(*queue, "second").ok());
  queue.reset();
  queue = open();
  EXPECT_THAT(drain(*queue), ElementsAre("first", "second"));
  EXPECT_EQ(queue->stats().torn_records, 0U);
}

TEST_F(DiskQueueTest, IsForOneProcessAtATime) {
  auto queue = open();
  const auto second = DiskQueue::open(options_, clock_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  queue.reset();
  EXPECT_TRUE(DiskQueue::open(options_, clock_).ok());
}

// Pushes and pops numbered records until it is killed, and says what it has been promised.
[[noreturn]] void work_until_killed(const DiskQueueOptions& options, int report, uint32_t next) {
  auto queue = DiskQueue::open(options, system_export_clock());
  if (!queue) ::_exit(2);
  const auto say = [&](char what, uint32_t number) {
    char line[5];
    line[0] = what;
    std::memcpy(line + 1, &number, sizeof(number));
    if (::write(report, line, sizeof(line)) != sizeof(line)) ::_exit(3);
  };
  std::mt19937 random(next);
  while (true) {
    const std::string number(reinterpret_cast<const char*>(&next), sizeof(next));
    const std::string payload = number + std::string(random() % 3000, 'x');
    if (!(*queue)->push([&](bool) { return QueueItem{1, payload}; })) ::_exit(4);
    say('+', next++);
    if (random() % 2 == 0) continue;
    const auto record = (*queue)->front();
    if (!record) continue;
    uint32_t front = 0;
    std::memcpy(&front, record->payload.data(), sizeof(front));
    say('-', front);  // "sent"
    (*queue)->advance(record->place, 1);
  }
}

TEST_F(DiskQueueTest, KilledAtAnyMomentItKeepsItsPromises) {
  options_.segment_bytes = 8000;
  std::mt19937 random(20261115);
  uint32_t pushed = 0;  // the next number to push
  uint32_t popped = 0;  // numbers below have been taken out
  for (int round = 0; round < 30; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      work_until_killed(options_, ends[1], pushed);
    }
    ::close(ends[1]);
    const size_t lines = 1 + random() % 40;
    std::string said;
    char buffer[4096];
    ssize_t got = 0;
    bool killed = false;
    while ((got = ::read(ends[0], buffer, sizeof(buffer))) > 0) {
      said.append(buffer, static_cast<size_t>(got));
      if (!killed && said.size() >= 5 * lines) {
        ::kill(child, SIGKILL);
        killed = true;
      }
    }
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << status;
    uint32_t last_popped = popped;
    for (size_t at = 0; at + 5 <= said.size(); at += 5) {
      uint32_t number = 0;
      std::memcpy(&number, said.data() + at + 1, sizeof(number));
      if (said[at] == '+') {
        pushed = number + 1;
      } else {
        last_popped = number;
      }
    }
    std::vector<uint32_t> numbers;
    // Looked at without taking them out: the next round goes on from here.
    {
      TemporaryFolder copy;
      fs::copy(options_.folder, copy.path("queue"), fs::copy_options::recursive);
      DiskQueueOptions options = options_;
      options.folder = copy.path("queue");
      auto twin = DiskQueue::open(options, system_export_clock());
      ASSERT_TRUE(twin.ok());
      for (const std::string& payload : drain(**twin)) {
        uint32_t number = 0;
        std::memcpy(&number, payload.data(), sizeof(number));
        numbers.push_back(number);
      }
      EXPECT_EQ((*twin)->stats().damaged, 0U);
    }
    // The record that was being taken out may be there once more; everything promised is, in order,
    // and perhaps one that was written but not yet promised.
    if (!numbers.empty()) {
      EXPECT_LE(numbers.front(), last_popped + 1);
      EXPECT_GE(numbers.front(), last_popped);
      for (size_t i = 1; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], numbers[i - 1] + 1);
      EXPECT_GE(numbers.back() + 1, pushed);
      EXPECT_LE(numbers.back(), pushed);
      pushed = numbers.back() + 1;
      popped = numbers.front();
    } else {
      EXPECT_GE(last_popped + 1, pushed);
      popped = pushed;
    }
  }
  EXPECT_GT(pushed, 100U);
}

}  // namespace
}  // namespace vesta::agent
