#include "agent/metadata/runtime.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/process/test_proc.h"
#include "agent/process/test_victim.h"
#include "base/test_requirements.h"
#include "symbols/testing/elf_builder.h"

namespace vesta::agent {
namespace {

Runtime of_mappings(std::initializer_list<std::string_view> paths) {
  MappedRuntimes mapped;
  for (const std::string_view path : paths) mapped.note(path);
  return mapped.best();
}

TEST(Runtime, MappedLibrariesTell) {
  const auto text = [](const Runtime& runtime) { return runtime.name + " " + runtime.version; };
  EXPECT_EQ(text(of_mappings({"/usr/lib/libc.so.6", "/usr/lib/libpython3.11.so.1.0"})),
            "cpython 3.11");
  EXPECT_EQ(text(of_mappings({"/usr/lib/python3/x/_json.cpython-312-x86_64-linux-gnu.so"})),
            "cpython 3.12");
  EXPECT_EQ(text(of_mappings({"/usr/lib/libruby-3.1.so.3.1"})), "ruby 3.1");
  EXPECT_EQ(text(of_mappings({"/usr/lib/apache2/modules/libphp8.2.so"})), "php 8.2");
  EXPECT_EQ(
      text(of_mappings({"/usr/share/dotnet/shared/Microsoft.NETCore.App/8.0.1/libcoreclr.so"})),
      ".NET 8.0.1");
  EXPECT_EQ(text(of_mappings({"/usr/lib/libpython3.11.so.1.0", "/opt/jdk/lib/server/libjvm.so"})),
            "OpenJDK Runtime Environment ");
  EXPECT_EQ(text(of_mappings({"/usr/lib/libperl.so.5.36", "[heap]", ""})), " ");
}

TEST(Runtime, NamesOfExecutablesTell) {
  const auto text = [](std::string_view path) {
    const Runtime runtime = runtime_of_executable(path);
    return runtime.name + " " + runtime.version;
  };
  EXPECT_EQ(text("/usr/bin/python3.11"), "cpython 3.11");
  EXPECT_EQ(text("/usr/sbin/php-fpm8.2"), "php 8.2");
  EXPECT_EQ(text("/usr/bin/perl"), "perl ");
  EXPECT_EQ(text("/home/a/.nvm/versions/node/v20.1.0/bin/node"), "nodejs 20.1.0");
  EXPECT_EQ(text("/usr/lib/erlang/erts-13.1.5/bin/beam.smp"), "BEAM 13.1.5");
  EXPECT_EQ(text("/usr/bin/node_exporter"), " ");
  EXPECT_EQ(text("/usr/bin/nginx"), " ");
}

TEST(Runtime, GoProgramsCarryTheirVersion) {
  std::string info = std::string("\xff Go buildinf:") + "\x08\x02";
  info.resize(32, '\0');
  vesta::testing::ElfBuilder elf;
  elf.add({".go.buildinfo", info + "\x08go1.21.5"});
  const auto parsed = ElfFile::parse(InputFile::from_bytes(elf.build()));
  ASSERT_TRUE(parsed);
  const Runtime runtime = runtime_of_elf(**parsed, "/bin/x");
  EXPECT_EQ(runtime.name, "go");
  EXPECT_EQ(runtime.version, "1.21.5");
}

TEST(Runtime, DamagedBuildInformationHasNoVersion) {
  for (std::string info : {std::string("\xff Go buildinf:\x08\x02"),
                           std::string("\xff Go buildinf:"), std::string("nothing")}) {
    for (const size_t size : {info.size(), size_t{32}, size_t{33}}) {
      info.resize(size, '\xff');
      vesta::testing::ElfBuilder elf;
      elf.add({".go.buildinfo", info});
      const auto parsed = ElfFile::parse(InputFile::from_bytes(elf.build()));
      ASSERT_TRUE(parsed);
      EXPECT_EQ(runtime_of_elf(**parsed, "/bin/x").version, "");
    }
  }
}

TEST(Runtime, NodeCarriesTheNameOfItsRelease) {
  vesta::testing::ElfBuilder elf;
  elf.add({".rodata", "https://nodejs.org/download/release/v20.20.2/node-v20.20.2.tar.gz"});
  const auto parsed = ElfFile::parse(InputFile::from_bytes(elf.build()));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(runtime_of_elf(**parsed, "/usr/bin/node").version, "20.20.2");
  EXPECT_EQ(runtime_of_elf(**parsed, "/usr/bin/other").name, "");
}

TEST(Runtime, ReleaseFilesOfJavaAreRead) {
  EXPECT_EQ(java_version("IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"17.0.9\"\n"), "17.0.9");
  EXPECT_EQ(java_version("JAVA_VERSION=\"25\"\nJAVA_RUNTIME_VERSION=\"25+9-LTS\""), "25+9-LTS");
  EXPECT_EQ(java_version("JAVA_VERSION=17\nJAVA_VERSION=\"\n"), "");
}

// A process of a made-up /proc.
class RuntimeProbeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    proc_.add(7, 1, "x", "");
    std::filesystem::create_directories(dir() + "/root");
  }
  std::string dir() const { return proc_.root() + "/7"; }
  Runtime identify(std::string_view executable, std::initializer_list<std::string_view> mapped) {
    MappedRuntimes libraries;
    for (const std::string_view path : mapped) libraries.note(path);
    const auto process = ProcDir::open(proc_.root(), 7);
    return process ? probe_.identify(*process, 7, executable, libraries) : Runtime();
  }
  void write_release(const std::string& home) const {
    std::filesystem::create_directories(dir() + "/root" + home + "/lib/server");
    write_text(dir() + "/root" + home + "/release", "JAVA_VERSION=\"17.0.9\"\n");
  }

  TestProc proc_;
  RuntimeProbe probe_{proc_.root()};
};

TEST_F(RuntimeProbeTest, JavasReleaseFileIsReadThroughTheRootOfTheProcess) {
  write_release("/opt/jdk");
  const Runtime runtime = identify("/opt/jdk/bin/java", {"/opt/jdk/lib/server/libjvm.so"});
  EXPECT_EQ(runtime.name, "OpenJDK Runtime Environment");
  EXPECT_EQ(runtime.version, "17.0.9");
}

TEST_F(RuntimeProbeTest, ReleaseFilesThatAreLinksOrPipesAreNotOpened) {
  write_release("/opt/jdk");
  const std::string release = dir() + "/root/opt/jdk/release";
  std::filesystem::remove(release);
  std::filesystem::create_symlink("/etc/os-release", release);
  EXPECT_EQ(identify("/opt/jdk/bin/java", {"/opt/jdk/lib/server/libjvm.so"}).version, "");
  std::filesystem::remove(release);
  ASSERT_EQ(::mkfifo(release.c_str(), 0600), 0);
  EXPECT_EQ(identify("/opt/jdk/bin/java", {"/opt/jdk/lib/server/libjvm.so"}).version, "");
}

TEST_F(RuntimeProbeTest, WhatIsNothingElseIsNative) {
  EXPECT_EQ(identify("/usr/sbin/nginx", {}).name, "native");
  EXPECT_EQ(identify("/usr/bin/python3", {"/usr/lib/libpython3.11.so.1.0"}).version, "3.11");
}

TEST(RuntimeOfLiveProcess, AreNamed) {
  struct Case {
    const char* program;
    const char* name;
    bool has_version;
  };
  RuntimeProbe probe("/proc");
  for (const Case& one :
       {Case{"/usr/bin/node", "nodejs", true}, Case{"/usr/bin/perl", "perl", false},
        Case{"/usr/bin/sleep", "native", false}}) {
    if (::access(one.program, X_OK) != 0) continue;
    // Its standard input is a pipe that stays open: interpreters wait for a program from it.
    const Victim victim(one.program, one.name == std::string("native") ? "600" : nullptr);
    const std::string wanted = std::filesystem::canonical(one.program);
    const auto process = ProcDir::open("/proc", victim.pid());
    ASSERT_TRUE(process);
    for (int i = 0; i < 1000 && process->read_link("exe").value_or("") != wanted; ++i)
      ::usleep(10'000);
    const Runtime runtime = probe.identify(*process, victim.pid(), wanted, {});
    EXPECT_EQ(runtime.name, one.name);
    EXPECT_EQ(!runtime.version.empty(), one.has_version) << runtime.version;
  }
}

}  // namespace
}  // namespace vesta::agent
