#include "symbols/debug_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/test_requirements.h"
#include "symbols/testing/elf_builder.h"
#include "symbols/testing/test_programs.h"

namespace vesta {
namespace {

namespace fs = std::filesystem;
using testing::Bytes;
using testing::ElfBuilder;
using testing::TestFolder;

std::string elf_with_id(uint64_t id, std::string_view extra = {}) {
  ElfBuilder elf;
  elf.add_code();
  elf.add({".note.gnu.build-id", Bytes().u32(4).u32(8).u32(3).text("GNU").u64(id).str(), SHT_NOTE});
  elf.add({".extra", std::string(extra)});
  return elf.build();
}

std::shared_ptr<const ElfFile> parse(std::string bytes) {
  return *ElfFile::parse(InputFile::from_bytes(std::move(bytes)));
}

constexpr uint64_t kId = 0x0807060504030201;
constexpr const char* kIdPath = "usr/lib/debug/.build-id/01/02030405060708.debug";

DebugFiles finder(std::vector<std::string> roots) {
  DebugFiles::Options options;
  options.roots = std::move(roots);
  return DebugFiles(std::move(options));
}

TEST(DebugFiles, FindsByBuildIdInTheFirstRootThatHasIt) {
  const TestFolder first, second;
  second.write(kIdPath, elf_with_id(kId, "second"));
  DebugFiles files = finder({first.path(), second.path()});
  const auto found = files.find(*parse(elf_with_id(kId)), "/bin/program").file;
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->section(".extra")->bytes, "second");
  EXPECT_EQ(files.find(*parse(elf_with_id(kId)), "/bin/program").file, found);  // opened once
}

TEST(DebugFiles, RefusesAFileWithAnotherBuildId) {
  const TestFolder root;
  root.write(kIdPath, elf_with_id(kId + 1));
  EXPECT_EQ(finder({root.path()}).find(*parse(elf_with_id(kId)), "/bin/program").file, nullptr);
}

TEST(DebugFiles, RemembersWhatIsMissingForAWhile) {
  const TestFolder root;
  auto now = std::chrono::steady_clock::time_point();
  DebugFiles::Options options;
  options.roots = {root.path()};
  DebugFiles files(options, [&now] { return now; });
  EXPECT_EQ(files.find(*parse(elf_with_id(kId)), "/p").file, nullptr);
  root.write(kIdPath, elf_with_id(kId));
  EXPECT_EQ(files.find(*parse(elf_with_id(kId)), "/p").file, nullptr);
  now += options.forget_missing_after;
  EXPECT_NE(files.find(*parse(elf_with_id(kId)), "/p").file, nullptr);
}

std::string elf_with_link(std::string_view name, std::string_view target) {
  ElfBuilder elf;
  elf.add_code();
  Bytes link;
  link.text(name);
  while (link.size() % 4 != 0) link.u8(0);
  elf.add({".gnu_debuglink", link.u32(debug_link_crc(target)).str()});
  return elf.build();
}

std::string elf_without_id(std::string_view extra) {
  ElfBuilder elf;
  elf.add({".extra", std::string(extra)});
  return elf.build();
}

TEST(DebugFiles, FindsByDebugLinkInAllThreePlaces) {
  for (const char* place : {"opt/p.debug", "opt/.debug/p.debug", "usr/lib/debug/opt/p.debug"}) {
    const TestFolder root;
    const std::string target = elf_without_id(place);
    root.write(place, target);
    const auto file = parse(elf_with_link("p.debug", target));
    const auto found = finder({root.path()}).find(*file, "/opt/p").file;
    ASSERT_NE(found, nullptr) << place;
    EXPECT_EQ(found->section(".extra")->bytes, place);
  }
}

TEST(DebugFiles, DebugLinkMustHaveTheRightChecksumAndNoFolders) {
  const TestFolder root;
  root.write("opt/p.debug", elf_without_id("other"));
  const auto wrong = parse(elf_with_link("p.debug", elf_without_id("expected")));
  EXPECT_EQ(finder({root.path()}).find(*wrong, "/opt/p").file, nullptr);
  const std::string target = elf_without_id("secret");
  root.write("secret/p.debug", target);
  const auto climbing = parse(elf_with_link("../secret/p.debug", target));
  EXPECT_EQ(finder({root.path()}).find(*climbing, "/opt/p").file, nullptr);
}

TEST(DebugFiles, LinksCannotLeadOutOfTheRoot) {
  const TestFolder host, container;
  host.write("secret", elf_with_id(kId));
  fs::create_directories(fs::path(container.file(kIdPath)).parent_path());
  // Absolute, and relative with more ".." than there are folders.
  for (const std::string& target :
       {host.file("secret"), "../../../../../../../../../.." + host.file("secret")}) {
    fs::remove(container.file(kIdPath));
    fs::create_symlink(target, container.file(kIdPath));
    ASSERT_TRUE(fs::exists(container.file(kIdPath)));  // for a reader that is not careful
    EXPECT_EQ(finder({container.path()}).find(*parse(elf_with_id(kId)), "/p").file, nullptr);
  }
  // A link inside of it is followed inside of it.
  container.write("real/file", elf_with_id(kId));
  fs::remove(container.file(kIdPath));
  fs::create_symlink("/real/file", container.file(kIdPath));
  EXPECT_NE(finder({container.path()}).find(*parse(elf_with_id(kId)), "/p").file, nullptr);
}

TEST(DebugFiles, FifosFoldersAndDevicesAreRefusedAtOnce) {
  const TestFolder root;
  const std::string path = root.file(kIdPath);
  fs::create_directories(fs::path(path).parent_path());
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(finder({root.path()}).find(*parse(elf_with_id(kId)), "/p").file, nullptr);
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_EQ(finder({root.path()}).find(*parse(elf_with_id(kId)), "/p").file, nullptr);
  EXPECT_FALSE(open_below("/", "/dev/zero", 1 << 20));
  EXPECT_FALSE(open_below("/no/such/folder", "/x", 1 << 20));
  const auto large = open_below("/", "/proc/self/exe", 10);
  EXPECT_FALSE(large);
}

TEST(DebugFiles, FindsTheSharedFileByIdAndByPath) {
  const std::string id = Bytes().u64(kId).str();
  ElfBuilder debug;
  debug.add({".gnu_debugaltlink", Bytes().text("../dwz/shared").raw(id).str()});
  const auto file = debug.open();
  EXPECT_EQ(alternate_link(*file).build_id.bytes, id);
  const TestFolder by_path, by_id;
  by_path.write("opt/bin/p.debug", "");
  by_path.write("opt/dwz/shared", elf_with_id(kId, "path"));
  by_id.write(kIdPath, elf_with_id(kId, "id"));
  const auto one = finder({by_path.path()}).find_alternate(*file, "/opt/bin/p.debug").file;
  ASSERT_NE(one, nullptr);
  EXPECT_EQ(one->section(".extra")->bytes, "path");
  const auto two = finder({by_id.path()}).find_alternate(*file, "/opt/bin/p.debug").file;
  ASSERT_NE(two, nullptr);
  EXPECT_EQ(two->section(".extra")->bytes, "id");
  ElfBuilder damaged;
  damaged.add({".gnu_debugaltlink", "no end"});
  EXPECT_EQ(finder({by_id.path()}).find_alternate(*damaged.open(), "/p").file, nullptr);
}

}  // namespace
}  // namespace vesta
