#include "agent/process/module_registry.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "agent/process/test_proc.h"
#include "base/file.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

namespace fs = std::filesystem;

// The smallest ELF file that has code and, if asked for, a build id.
std::string make_elf(std::string_view build_id, uint64_t address = 0x401000) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  Elf64_Phdr code{};
  code.p_type = PT_LOAD;
  code.p_flags = PF_R | PF_X;
  code.p_offset = 0x1000;
  code.p_filesz = code.p_memsz = 0x800;
  code.p_vaddr = address;
  Elf64_Phdr notes{};
  notes.p_type = PT_NOTE;
  notes.p_offset = sizeof(header) + 2 * sizeof(code);
  Elf64_Nhdr note{4, static_cast<Elf64_Word>(build_id.size()), NT_GNU_BUILD_ID};
  std::string note_bytes(reinterpret_cast<const char*>(&note), sizeof(note));
  note_bytes += std::string_view("GNU\0", 4);
  note_bytes += build_id;
  notes.p_filesz = build_id.empty() ? 0 : note_bytes.size();
  std::string out(reinterpret_cast<const char*>(&header), sizeof(header));
  out.append(reinterpret_cast<const char*>(&code), sizeof(code));
  out.append(reinterpret_cast<const char*>(&notes), sizeof(notes));
  out += note_bytes;
  out.resize(0x1800, '\x90');
  return out;
}

class ModuleRegistryTest : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    std::string path = folder_.path() + "/" + name;
    // Another inode, not other contents of the same.
    fs::remove(path);
    write_text(path, bytes);
    return path;
  }
  // As the kernel tells of it: by inode.
  static MappedFile file_at(const std::string& path) {
    struct stat info {};
    ::stat(path.c_str(), &info);
    MappedFile file;
    file.path = path;
    file.device = info.st_dev;
    file.inode = info.st_ino;
    return file;
  }

  TemporaryFolder folder_;
  ModuleRegistry registry_{{.proc_root = "/nowhere"}};
};

TEST_F(ModuleRegistryTest, OneFileIsOneModule) {
  const std::string path = write("a", make_elf("0123456789"));
  const ModuleId id = registry_.acquire(file_at(path));
  ASSERT_TRUE(id);
  EXPECT_EQ(registry_.acquire(file_at(path)), id);
  // By its build id, nothing is opened, so the path need not exist.
  MappedFile elsewhere;
  elsewhere.path = "/nowhere/else";
  elsewhere.build_id = "0123456789";
  EXPECT_EQ(registry_.acquire(elsewhere), id);
  EXPECT_EQ(registry_.module(id)->path(), path);
  EXPECT_EQ(registry_.module(id)->build_id().bytes, "0123456789");
  EXPECT_EQ(registry_.counters().opened_by_own_path, 1);
}

TEST_F(ModuleRegistryTest, AFileWithoutABuildIdIsKnownByItsContent) {
  const auto identity = [this](const std::string& name, const std::string& bytes) {
    const ModuleId id = registry_.acquire(file_at(write(name, bytes)));
    return id ? registry_.module(id)->identity_text() : "";
  };
  const std::string first = identity("a", make_elf(""));
  EXPECT_THAT(first, ::testing::MatchesRegex("htlhash:[0-9a-f]{32}"));
  EXPECT_EQ(identity("copy", make_elf("")), first);
  EXPECT_NE(identity("other", make_elf("", 0x405000)), first);
  EXPECT_EQ(identity("b", make_elf("0123456789")), "30313233343536373839");
}

TEST_F(ModuleRegistryTest, TheBiasComesFromTheProgramHeaders) {
  const ModuleId id = registry_.acquire(file_at(write("a", make_elf("0123456789", 0x405000))));
  EXPECT_EQ(registry_.module(id)->bias(0x7f0000001000, 0x1000), 0x7f0000001000 - 0x405000);
  const auto elf = registry_.module(id)->open();
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_EQ((*elf)->address_of_offset(0x1000), 0x405000);
}

TEST_F(ModuleRegistryTest, ADeletedFileCanStillBeRead) {
  const std::string path = write("a", make_elf("0123456789"));
  const ModuleId id = registry_.acquire(file_at(path));
  fs::remove(path);
  const auto elf = registry_.module(id)->open();
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_EQ((*elf)->build_id().bytes, "0123456789");
}

TEST_F(ModuleRegistryTest, AFileThatTookItsPlaceIsNotMistakenForIt) {
  const std::string path = write("a", make_elf("0123456789"));
  const ModuleId id = registry_.acquire(file_at(path));
  registry_.module(id)->close_fd();
  write("a", make_elf("another-id"));
  EXPECT_FALSE(registry_.module(id)->open());
  MappedFile file;
  file.path = path;
  file.build_id = "third--one";
  EXPECT_FALSE(registry_.acquire(file));
  file.build_id = "another-id";
  const ModuleId other = registry_.acquire(file);
  ASSERT_TRUE(other);
  EXPECT_NE(other, id);
}

TEST_F(ModuleRegistryTest, LateNewsOfAMappingDoNotOpenWhatIsMappedThereByNow) {
  const std::string was = write("was", make_elf("0123456789"));
  const std::string is = write("is", make_elf("another-id"));
  const std::string maps = folder_.path() + "/42/map_files";
  fs::create_directories(maps);
  fs::create_symlink(is, maps + "/1000-2000");
  ModuleRegistry registry({.proc_root = folder_.path()});
  MappedFile file;
  file.pid = 42;
  file.start = 0x1000;
  file.end = 0x2000;
  file.path = was;
  file.build_id = "0123456789";
  const ModuleId late = registry.acquire(file);
  ASSERT_TRUE(late);
  EXPECT_EQ(registry.module(late)->build_id().bytes, "0123456789");
  file.path = is;
  file.build_id = "another-id";
  const ModuleId now = registry.acquire(file);
  ASSERT_TRUE(now);
  EXPECT_NE(now, late);
  EXPECT_EQ(registry.counters().opened_by_mapping, 1);
}

TEST_F(ModuleRegistryTest, WithoutABuildIdTheFileItselfCounts) {
  const std::string path = write("a", make_elf(""));
  const ModuleId id = registry_.acquire(file_at(path));
  EXPECT_EQ(registry_.acquire(file_at(path)), id);
  const ModuleId copy = registry_.acquire(file_at(write("b", make_elf(""))));
  ASSERT_TRUE(copy);
  EXPECT_NE(copy, id);
}

TEST_F(ModuleRegistryTest, AFileWrittenOverInPlaceIsAnotherModule) {
  const std::string path = write("a", make_elf(""));
  const ModuleId id = registry_.acquire(file_at(path));
  write_text(path, make_elf("") + "more");
  const ModuleId changed = registry_.acquire(file_at(path));
  ASSERT_TRUE(changed);
  EXPECT_NE(changed, id);
}

TEST_F(ModuleRegistryTest, OnlyRegularFilesAreOpened) {
  const std::string pipe = folder_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(registry_.acquire(file_at(pipe)));
  EXPECT_FALSE(registry_.acquire(file_at("/dev/zero")));
  EXPECT_FALSE(registry_.acquire(file_at(folder_.path())));
}

TEST_F(ModuleRegistryTest, FilesThatAProcessServesAreNotTouched) {
  constexpr std::string_view kMounts =
      "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
      "40 22 0:52 / /home/me/far\\040away rw shared:9 master:2 - fuse.sshfs me@far: rw\n"
      "41 22 0:53 / /other rw - overlay overlay rw\n"
      "broken\n\n";
  EXPECT_FALSE(is_served_by_process(kMounts, makedev(8, 1)));
  EXPECT_TRUE(is_served_by_process(kMounts, makedev(0, 52)));
  EXPECT_FALSE(is_served_by_process(kMounts, makedev(0, 53)));
  EXPECT_FALSE(is_served_by_process(kMounts, makedev(0, 5)));
  EXPECT_FALSE(is_served_by_process("", makedev(0, 52)));
  // A /proc that says so of the device of an ordinary file.
  const std::string path = write("a", make_elf("0123456789"));
  const MappedFile file = file_at(path);
  const TestProc proc;
  fs::create_directory(proc.root() + "/self");
  write_text(proc.root() + "/self/mountinfo", fmt::format("22 1 {}:{} / / rw - fuse x rw\n",
                                                          major(file.device), minor(file.device)));
  ModuleRegistry registry({.proc_root = proc.root()});
  EXPECT_FALSE(registry.acquire(file));
  EXPECT_EQ(registry.counters().not_opened + registry.counters().served_by_process, 1);
}

TEST_F(ModuleRegistryTest, AFileThatIsNoElfFileHasAModuleUnlessOnlyThoseAreWanted) {
  const std::string path = write("a", "#!/bin/sh\n");
  EXPECT_FALSE(registry_.acquire(file_at(path), /*only_elf=*/true));
  const ModuleId id = registry_.acquire(file_at(path));
  ASSERT_TRUE(id);
  EXPECT_FALSE(registry_.module(id)->is_elf());
  EXPECT_FALSE(registry_.module(id)->open());
  EXPECT_EQ(registry_.module(id)->bias(0x5000, 0x1000), 0x4000);
}

TEST_F(ModuleRegistryTest, FilesAreClosedAndOpenedAgainWhenThereAreTooMany) {
  ModuleRegistry small({.proc_root = "/nowhere", .max_open_files = 2});
  std::vector<ModuleId> ids;
  for (int i = 0; i < 5; ++i) {
    const std::string name = fmt::format("file-{}", i);
    ids.push_back(small.acquire(file_at(write(name, make_elf(name + "-build-id")))));
  }
  EXPECT_EQ(small.open_files(), 2);
  EXPECT_EQ(small.counters().files_closed, 3);
  EXPECT_FALSE(small.module(ids[0])->has_fd());
  const auto elf = small.module(ids[0])->open();
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_EQ((*elf)->build_id().bytes, "file-0-build-id");
}

TEST_F(ModuleRegistryTest, ModulesInUseAreKeptAndOthersDropped) {
  ModuleRegistry small({.proc_root = "/nowhere", .max_modules = 2});
  const auto add = [&](int i) {
    const std::string name = fmt::format("file-{}", i);
    return small.acquire(file_at(write(name, make_elf(name + "-build-id"))));
  };
  const ModuleId first = add(0);
  small.retain(first);
  const ModuleId second = add(1);
  const auto held = small.module(second);
  const ModuleId third = add(2);
  EXPECT_EQ(small.module(second), nullptr);
  EXPECT_TRUE(held->open());  // whoever holds it can go on
  ASSERT_NE(small.module(first), nullptr);
  small.retain(third);
  EXPECT_FALSE(add(3));
  EXPECT_EQ(small.counters().refused, 1);
  small.release(first);
  EXPECT_TRUE(add(3));
  EXPECT_EQ(small.module(first), nullptr);
}

TEST_F(ModuleRegistryTest, TheVdsoIsReadFromMemory) {
  const ModuleId id = registry_.vdso();
  ASSERT_TRUE(id);
  EXPECT_EQ(registry_.vdso(), id);
  const auto elf = registry_.module(id)->open();
  ASSERT_TRUE(elf) << elf.error().message;
  EXPECT_NE((*elf)->section(".dynsym"), nullptr);
  EXPECT_EQ(registry_.module(id)->kind(), ModuleKind::kVdso);
}

TEST(ElfHead, AgreesWithTheFullReader) {
  const std::string self = fs::canonical("/proc/self/exe");
  const UniqueFd fd(::open(self.c_str(), O_RDONLY | O_CLOEXEC));
  const auto head = read_elf_head(fd.get());
  const auto full = ElfFile::open(self);
  ASSERT_TRUE(head);
  ASSERT_TRUE(full);
  EXPECT_EQ(head->build_id, (*full)->build_id());
  ASSERT_FALSE(head->code.empty());
  for (uint64_t offset = 0; offset < 1 << 22; offset += 4096) {
    EXPECT_EQ(head->address_of_offset(offset), (*full)->address_of_offset(offset)) << offset;
  }
}

TEST(ElfHead, RefusesOtherFiles) {
  const auto head_of = [](std::string_view bytes) {
    return read_elf_head([bytes](uint64_t offset, std::span<char> out) -> size_t {
      return offset >= bytes.size() ? 0 : bytes.substr(offset).copy(out.data(), out.size());
    });
  };
  EXPECT_FALSE(head_of(""));
  EXPECT_FALSE(head_of("#!/bin/sh\n"));
  std::string elf = make_elf("0123456789");
  EXPECT_EQ(head_of(elf)->build_id.bytes, "0123456789");
  for (size_t size = 0; size < 300; ++size) head_of(std::string_view(elf).substr(0, size));
  elf[EI_CLASS] = ELFCLASS32;
  EXPECT_FALSE(head_of(elf));
}

}  // namespace
}  // namespace vesta::agent
