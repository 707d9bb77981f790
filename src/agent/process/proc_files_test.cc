#include "agent/process/proc_files.h"

#include <gtest/gtest.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace vesta::agent {
namespace {

TEST(ProcMaps, ReadsAFileMapping) {
  const auto mapping = parse_maps_line(
      "7f0a1000-7f0a3000 r-xp 0002a000 fd:01 1311                       /usr/lib/my lib.so");
  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->start, 0x7f0a1000);
  EXPECT_EQ(mapping->end, 0x7f0a3000);
  EXPECT_EQ(mapping->file_offset, 0x2a000);
  EXPECT_TRUE(mapping->is_executable);
  EXPECT_EQ(mapping->device, makedev(0xfd, 1));
  EXPECT_EQ(mapping->inode, 1311);
  EXPECT_EQ(mapping->path, "/usr/lib/my lib.so");
  EXPECT_FALSE(mapping->is_deleted);
}

TEST(ProcMaps, KnowsDeletedFilesAndAnonymousMemory) {
  const auto deleted = parse_maps_line("1000-2000 r-xp 00000000 00:1b 5 /tmp/a.out (deleted)");
  ASSERT_TRUE(deleted);
  EXPECT_EQ(deleted->path, "/tmp/a.out");
  EXPECT_TRUE(deleted->is_deleted);
  for (const char* line : {"1000-2000 rwxp 00000000 00:00 0", "1000-2000 rwxp 00000000 00:00 0 "}) {
    const auto anonymous = parse_maps_line(line);
    ASSERT_TRUE(anonymous);
    EXPECT_TRUE(anonymous->path.empty());
  }
  EXPECT_EQ(
      parse_maps_line("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]")->path,
      "[vsyscall]");
}

TEST(ProcMaps, RefusesWhatIsNoMapping) {
  for (const char* line : {"", "1000", "1000-", "2000-1000 r-xp 0 0:0 0", "1000-2000 r-x",
                           "1000-2000 r-xp", "1000-2000 r-xp 0 0 0", "g-h r-xp 0 0:0 0",
                           "1000-2000 r-xp 0 0:0 x", "11111111111111111-2 r-xp 0 0:0 0"}) {
    EXPECT_FALSE(parse_maps_line(line)) << line;
  }
}

TEST(ProcMaps, UnescapesNewlines) {
  EXPECT_EQ(unescape_maps_path("/a\\012b\\012"), "/a\nb\n");
  EXPECT_EQ(unescape_maps_path("/plain"), "/plain");
}

TEST(ProcMaps, AnyCutIntoChunksGivesTheSame) {
  const std::string text =
      "1000-2000 r-xp 0 0:0 1 /a\n3000-4000 r--p 0 0:0 2 /b\nbad\n5000-6000 r-xp 0 0:0 3 /c";
  for (size_t size = 1; size <= text.size(); ++size) {
    std::string paths;
    MapsParser parser([&](const ProcMapping& mapping) { paths += mapping.path; });
    for (size_t at = 0; at < text.size(); at += size) {
      parser.feed(std::string_view(text).substr(at, size));
    }
    parser.finish();
    EXPECT_EQ(paths, "/a/b/c");
    EXPECT_EQ(parser.lines(), 4);
    EXPECT_EQ(parser.bad_lines(), 1);
  }
}

TEST(ProcMaps, AnEndlessLineIsSkipped) {
  size_t count = 0;
  MapsParser parser([&](const ProcMapping&) { ++count; });
  const std::string chunk(4096, 'x');
  for (int i = 0; i < 100; ++i) parser.feed(chunk);
  parser.feed("\n1000-2000 r-xp 0 0:0 1 /a\n");
  EXPECT_EQ(count, 1);
  EXPECT_EQ(parser.bad_lines(), 1);
}

TEST(ProcStat, ReadsNamesWithBracketsAndBlanks) {
  const auto stat = parse_proc_stat(
      "42 (a) b (c)) S 7 42 42 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 3 0 1234567 0 0\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->comm, "a) b (c)");
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 7);
  EXPECT_EQ(stat->threads, 3);
  EXPECT_EQ(stat->start_ticks, 1234567);
  EXPECT_FALSE(stat->is_kernel_thread);
}

TEST(ProcStat, RefusesWhatIsCutOff) {
  EXPECT_FALSE(parse_proc_stat(""));
  EXPECT_FALSE(parse_proc_stat("42 )("));
  EXPECT_FALSE(parse_proc_stat("42 (x) S 7 42"));
}

TEST(ProcStatus, ReadsUserAndInnermostPid) {
  const ProcStatus status =
      parse_proc_status("Name:\tx\nUid:\t1000\t1001\t1002\t1003\nNSpid:\t4242\t17\t3\n");
  EXPECT_EQ(status.uid, 1001);
  EXPECT_EQ(status.ns_pid, 3);
  EXPECT_EQ(parse_proc_status("").ns_pid, 0);
}

TEST(ProcDir, TellsAboutOurselves) {
  const auto self = ProcDir::open("/proc", static_cast<uint32_t>(::getpid()));
  ASSERT_TRUE(self) << self.error().message;
  const auto text = self->read("stat");
  ASSERT_TRUE(text);
  EXPECT_EQ(parse_proc_stat(*text)->parent, static_cast<uint32_t>(::getppid()));
  size_t executable = 0;
  const auto lines =
      self->read_maps([&](const ProcMapping& mapping) { executable += mapping.is_executable; });
  ASSERT_TRUE(lines);
  EXPECT_GT(*lines, executable);
  EXPECT_GT(executable, 2);
  EXPECT_EQ(self->threads().size(), parse_proc_stat(*text)->threads);
}

TEST(ProcDir, AMissingProcessIsNotFound) {
  const auto missing = ProcDir::open("/proc", 0);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_TRUE(list_processes("/nowhere").empty());
}

}  // namespace
}  // namespace vesta::agent
