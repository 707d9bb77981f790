// The process table against the running kernel: real processes, real side-band records. Needs the
// right to watch all processes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>

#include "agent/process/process_table.h"
#include "agent/process/side_band.h"
#include "agent/process/test_proc.h"
#include "agent/process/test_victim.h"
#include "base/clock.h"
#include "base/test_requirements.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

namespace fs = std::filesystem;

class ProcessKernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto band = SideBand::open();
    VESTA_REQUIRE_OR_SKIP(band.ok(), band.error().message);
    band_ = std::move(*band);
  }

  void pump() {
    band_->drain([this](const SideBandEvent& event) { table_.apply(event); });
  }
  // Applies events until the condition holds; false after 20 seconds.
  bool pump_until(const std::function<bool()>& condition) {
    const uint64_t deadline = monotonic_ns() + 20'000'000'000;
    while (monotonic_ns() < deadline) {
      pump();
      if (condition()) return true;
      pollfd waiting{band_->fd(), POLLIN, 0};
      ::poll(&waiting, 1, 5);
    }
    return false;
  }
  const CodeMapping* mapping_of(uint32_t pid, const std::string& build_id) {
    for (const CodeMapping& mapping : table_.mappings(pid).mappings) {
      const auto module = registry_.module(mapping.module);
      if (module != nullptr && module->build_id().bytes == build_id) return &mapping;
    }
    return nullptr;
  }
  std::string build_id_at(uint32_t pid, uint64_t address, uint64_t time_ns) {
    const CodeMapping* found = table_.find(pid, address, time_ns);
    const auto module = found == nullptr ? nullptr : registry_.module(found->module);
    return module == nullptr ? "" : module->build_id().bytes;
  }

  TemporaryFolder folder_;
  std::unique_ptr<SideBand> band_;
  ModuleRegistry registry_;
  ProcessTable table_{registry_};
};

TEST_F(ProcessKernelTest, TellsOfAnExecWithBuildIds) {
  EXPECT_TRUE(band_->has_build_ids());
  const Victim victim(VESTA_VICTIM);
  ASSERT_EQ(victim.line(), "ready");
  const std::string id = build_id_of(VESTA_VICTIM);
  ASSERT_TRUE(pump_until([&] { return mapping_of(victim.pid(), id) != nullptr; }));
  const uint64_t main_address = victim.ask_address("where");
  pump();
  const CodeMapping* found = table_.find(victim.pid(), main_address, monotonic_ns());
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->name, fs::canonical(VESTA_VICTIM));
  // The bias is right: `main` is where the symbol table says.
  const auto elf = registry_.module(found->module)->open();
  ASSERT_TRUE(elf);
  EXPECT_FALSE((*elf)->bytes_at(main_address - found->bias).empty());
  const auto self = table_.process(victim.pid());
  ASSERT_NE(self, nullptr);
  EXPECT_EQ(self->comm, "process_victim");
  EXPECT_EQ(self->exe, fs::canonical(VESTA_VICTIM));
  EXPECT_EQ(self->parent, static_cast<uint32_t>(::getpid()));
  EXPECT_EQ(self->root, nullptr);
  // All that /proc shows is known: the loader, libc, the vDSO.
  size_t with_module = 0;
  bool has_vdso = false;
  for (const CodeMapping& mapping : table_.mappings(victim.pid()).mappings) {
    with_module += mapping.module ? 1 : 0;
    has_vdso |= mapping.name == "[vdso]" && mapping.module;
  }
  EXPECT_GE(with_module, 4);
  EXPECT_TRUE(has_vdso);
}

TEST_F(ProcessKernelTest, ANewProcessIsKnownFromEventsAlone) {
  const std::string id = build_id_of(VESTA_VICTIM);
  // Others on this machine fork as well, which has their parents scanned: among some tries is one
  // in which nobody did.
  uint64_t fewest = UINT64_MAX;
  for (int attempt = 0; attempt < 100 && fewest > 1; ++attempt) {
    pump();
    const uint64_t before = table_.counters().rescans;
    const Victim victim(VESTA_VICTIM);
    ASSERT_EQ(victim.line(), "ready");
    ASSERT_TRUE(pump_until([&] { return mapping_of(victim.pid(), id) != nullptr; }));
    fewest = std::min(fewest, table_.counters().rescans - before);
  }
  EXPECT_LE(fewest, 1U);  // ourselves, when we forked first
}

TEST_F(ProcessKernelTest, EventsAndProcAgree) {
  const Victim victim(VESTA_VICTIM);
  ASSERT_EQ(victim.line(), "ready");
  victim.ask_address(std::string("dlopen ") + VESTA_PLUGIN);
  ASSERT_TRUE(
      pump_until([&] { return mapping_of(victim.pid(), build_id_of(VESTA_PLUGIN)) != nullptr; }));
  ProcessTable other(registry_);
  other.scan();
  const auto from_events = table_.mappings(victim.pid()).mappings;
  const auto from_proc = other.mappings(victim.pid()).mappings;
  size_t in_proc = 0;
  for (const CodeMapping& mapping : from_proc) {
    if (mapping.name == "[vsyscall]") continue;  // there for all processes, mapped by none
    ++in_proc;
    bool is_known = false;
    for (const CodeMapping& told : from_events) is_known |= told.is_same_code(mapping);
    EXPECT_TRUE(is_known) << mapping.name;
  }
  EXPECT_EQ(from_events.size(), in_proc);
}

TEST_F(ProcessKernelTest, AChildThatDoesNotExecHasItsParentsCode) {
  const Victim victim(VESTA_VICTIM);
  ASSERT_EQ(victim.line(), "ready");
  const uint64_t main_address = victim.ask_address("where");
  const auto child = static_cast<uint32_t>(std::stoul(victim.ask("fork")));
  ASSERT_TRUE(pump_until([&] { return table_.process(child) != nullptr; }));
  EXPECT_EQ(table_.process(child)->parent, victim.pid());
  const uint64_t rescans = table_.counters().rescans;
  EXPECT_EQ(build_id_at(child, main_address, monotonic_ns()), build_id_of(VESTA_VICTIM));
  EXPECT_EQ(table_.counters().rescans, rescans);
}

TEST_F(ProcessKernelTest, LibrariesComeAndGo) {
  const std::string first = folder_.path() + "/first.so";
  const std::string second = folder_.path() + "/second.so";
  ASSERT_TRUE(copy_with_build_id(VESTA_PLUGIN, first, 1));
  ASSERT_TRUE(copy_with_build_id(VESTA_PLUGIN, second, 2));
  const Victim victim(VESTA_VICTIM);
  ASSERT_EQ(victim.line(), "ready");
  const uint64_t first_address = victim.ask_address("dlopen " + first);
  ASSERT_NE(first_address, 0);
  const uint64_t first_time = monotonic_ns();
  ASSERT_TRUE(pump_until(
      [&] { return build_id_at(victim.pid(), first_address, first_time) == build_id_of(first); }));
  ASSERT_EQ(victim.ask("dlclose"), "0");
  // The kernel tends to give the place that was freed to the next one of the same size.
  const uint64_t second_address = victim.ask_address("dlopen " + second);
  const uint64_t second_time = monotonic_ns();
  ASSERT_TRUE(pump_until([&] {
    return build_id_at(victim.pid(), second_address, second_time) == build_id_of(second);
  }));
  EXPECT_EQ(build_id_at(victim.pid(), first_address, first_time), build_id_of(first));
}

TEST_F(ProcessKernelTest, TwoHundredBriefProcessesAreAllKnown) {
  constexpr size_t kProcesses = 200;
  constexpr size_t kAtOnce = 8;
  std::vector<std::pair<uint32_t, std::string>> seen;  // process, build id
  for (uint16_t done = 0; done < kProcesses;) {
    std::vector<Victim> wave;
    std::vector<std::string> files;
    for (size_t i = 0; i < kAtOnce; ++i, ++done) {
      // Each is a program of its own, gone from the disk after its end.
      files.push_back(fmt::format("{}/brief-{}", folder_.path(), done));
      ASSERT_TRUE(copy_with_build_id(VESTA_VICTIM, files.back(), done));
      wave.emplace_back(files.back(), "brief");
      seen.emplace_back(wave.back().pid(), build_id_of(files.back()));
    }
    ASSERT_TRUE(pump_until([&] {
      bool all = true;
      for (Victim& victim : wave) all = victim.has_ended() && all;
      return all;
    }));
    for (const std::string& file : files) fs::remove(file);
  }
  pump();
  EXPECT_EQ(band_->counters().lost, 0);
  for (const auto& [pid, build_id] : seen) {
    const Process* process = table_.process(pid);
    ASSERT_NE(process, nullptr);
    EXPECT_NE(process->exit_ns, kStillAlive);
    EXPECT_TRUE(process->comm.starts_with("brief-")) << process->comm;
  }
  // What it had mapped at its end: itself, loader, libc, vDSO; all of them readable still.
  size_t complete = 0;
  for (const auto& [pid, build_id] : seen) {
    const auto mappings = table_.mappings(pid).mappings;
    size_t readable = 0;
    for (const CodeMapping& mapping : mappings) {
      const auto module = registry_.module(mapping.module);
      if (module != nullptr && !module->build_id().empty() && module->open()) ++readable;
    }
    if (readable >= 4 && readable == mappings.size() && mapping_of(pid, build_id) != nullptr) {
      ++complete;
    }
  }
  EXPECT_EQ(complete, kProcesses);
}

TEST_F(ProcessKernelTest, ABinaryDeletedOrReplacedWhileItRunsIsStillTheOldOne) {
  const std::string path = folder_.path() + "/program";
  ASSERT_TRUE(copy_with_build_id(VESTA_VICTIM, path, 11));
  const std::string id = build_id_of(path);
  const Victim victim(path);
  ASSERT_EQ(victim.line(), "ready");
  const uint64_t main_address = victim.ask_address("where");
  const std::string other = folder_.path() + "/other";
  ASSERT_TRUE(copy_with_build_id(VESTA_VICTIM, other, 12));
  fs::rename(other, path);
  ASSERT_NE(build_id_of(path), id);
  // Nothing was drained until now: the file can only be had through the process.
  ASSERT_TRUE(pump_until([&] { return mapping_of(victim.pid(), id) != nullptr; }));
  fs::remove(path);
  // One who starts now finds it through /proc alone.
  ModuleRegistry registry;
  ProcessTable table(registry);
  table.scan();
  const CodeMapping* found = table.find(victim.pid(), main_address, monotonic_ns());
  ASSERT_NE(found, nullptr);
  const auto module = registry.module(found->module);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(module->build_id().bytes, id);
  EXPECT_EQ(module->path(), path);
  const auto elf = module->open();
  ASSERT_TRUE(elf);
  EXPECT_EQ((*elf)->build_id().bytes, id);
}

TEST_F(ProcessKernelTest, APathMeansWhatItMeansInTheMountNamespaceOfTheProcess) {
  const std::string mount_point = folder_.path() + "/mount";
  const std::string source = folder_.path() + "/source";
  const std::string path = mount_point + "/program";
  fs::create_directory(mount_point);
  fs::create_directory(source);
  ASSERT_TRUE(copy_with_build_id(VESTA_VICTIM, path, 21));
  ASSERT_TRUE(copy_with_build_id(VESTA_VICTIM, source + "/program", 22));
  const std::string theirs = build_id_of(source + "/program");
  const Victim victim(path, nullptr, [&] {
    return ::unshare(CLONE_NEWNS) == 0 &&
           ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
           ::mount(source.c_str(), mount_point.c_str(), nullptr, MS_BIND, nullptr) == 0;
  });
  const std::string answer = victim.line();
  VESTA_REQUIRE_OR_SKIP(answer == "ready", "mount namespaces cannot be made here");
  ASSERT_TRUE(pump_until([&] { return mapping_of(victim.pid(), theirs) != nullptr; }));
  const CodeMapping* found = mapping_of(victim.pid(), theirs);
  EXPECT_EQ(registry_.module(found->module)->path(), path);
  EXPECT_NE(registry_.module(found->module)->root(), nullptr);
  EXPECT_NE(table_.process(victim.pid())->root, nullptr);
  // Without map_files (one that does not match stands in for the missing right), through its root.
  ModuleRegistry registry;
  MappedFile file;
  file.pid = victim.pid();
  file.start = 1;
  file.end = 2;
  file.path = path;
  file.build_id = theirs;
  const ModuleId id = registry.acquire(file);
  ASSERT_TRUE(id);
  EXPECT_EQ(registry.counters().opened_in_root, 1);
  EXPECT_EQ(registry.module(id)->build_id().bytes, theirs);
}

TEST_F(ProcessKernelTest, AProcessInAnotherRootIsReadThere) {
  const std::string jail = folder_.path() + "/jail";
  fs::create_directory(jail);
  ASSERT_TRUE(copy_with_build_id(VESTA_WAITS, jail + "/program", 31));
  const std::string id = build_id_of(jail + "/program");
  const Victim victim("/program", nullptr,
                      [&] { return ::chroot(jail.c_str()) == 0 && ::chdir("/") == 0; });
  const std::string answer = victim.line();
  VESTA_REQUIRE_OR_SKIP(answer == "ready", "chroot is not permitted here");
  ASSERT_TRUE(pump_until([&] { return mapping_of(victim.pid(), id) != nullptr; }));
  const auto root = table_.process(victim.pid())->root;
  ASSERT_NE(root, nullptr);
  EXPECT_TRUE(open_in_root(root->fd.get(), "/program"));
  // Links do not lead out of it.
  fs::create_symlink("/etc/passwd", jail + "/link");
  fs::create_symlink("../../../../../../../etc/passwd", jail + "/dots");
  EXPECT_FALSE(open_in_root(root->fd.get(), "/link"));
  EXPECT_FALSE(open_in_root(root->fd.get(), "/dots"));
}

TEST_F(ProcessKernelTest, AProcessInAPidNamespaceHasOurIdAndItsOwn) {
  // The one that unshares stays outside; its child is the first process inside.
  const Victim victim(VESTA_VICTIM, nullptr, [] { return ::unshare(CLONE_NEWPID) == 0; });
  const std::string answer = victim.line();
  VESTA_REQUIRE_OR_SKIP(answer == "ready", "pid namespaces cannot be made here");
  EXPECT_EQ(victim.ask("fork").empty(), false);
  uint32_t inner = 0;
  ASSERT_TRUE(pump_until([&] {
    for (const uint32_t pid : list_processes("/proc")) {
      const Process* process = table_.process(pid);
      if (process != nullptr && process->parent == victim.pid()) inner = pid;
    }
    return inner != 0;
  }));
  ProcessTable fresh(registry_);
  fresh.scan();
  fresh.mappings(inner);
  ASSERT_NE(fresh.process(inner), nullptr);
  EXPECT_EQ(fresh.process(inner)->ns_pid, 1);
  EXPECT_NE(mapping_of(inner, build_id_of(VESTA_VICTIM)), nullptr);
}

TEST_F(ProcessKernelTest, AProcessWithVeryManyMappingsIsReadInBounds) {
  const Victim victim(VESTA_VICTIM);
  ASSERT_EQ(victim.line(), "ready");
  // As many as the kernel allows (vm.max_map_count).
  const long made = std::stol(victim.ask("map 100000"));
  ASSERT_GT(made, 30'000);
  // The ring is too small for all of these at once, and says so.
  pump();
  ProcessTable fresh(registry_);
  fresh.scan();
  EXPECT_GE(fresh.mappings(victim.pid()).mappings.size(), static_cast<size_t>(made) / 2);
  // Whatever was lost is found again.
  const CodeMapping last = fresh.mappings(victim.pid()).mappings[static_cast<size_t>(made) / 4];
  ASSERT_TRUE(
      pump_until([&] { return table_.find(victim.pid(), last.start, monotonic_ns()) != nullptr; }));
  EXPECT_LT(table_.memory_bytes(), 64 << 20);
}

TEST_F(ProcessKernelTest, AProcessThatExecsAgainAndAgainIsFollowed) {
  const std::string copies[] = {folder_.path() + "/a", folder_.path() + "/b"};
  ASSERT_TRUE(copy_with_build_id(VESTA_VICTIM, copies[0], 41));
  ASSERT_TRUE(copy_with_build_id(VESTA_VICTIM, copies[1], 42));
  const Victim victim(VESTA_VICTIM);
  ASSERT_EQ(victim.line(), "ready");
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(victim.ask("exec " + copies[i % 2]), "ready");
    const uint64_t address = victim.ask_address("where");
    const uint64_t time_ns = monotonic_ns();
    ASSERT_TRUE(pump_until([&] {
      return build_id_at(victim.pid(), address, time_ns) == build_id_of(copies[i % 2]);
    })) << i;
  }
  EXPECT_EQ(table_.process(victim.pid())->comm, "b");
  EXPECT_EQ(table_.process(victim.pid())->exe, copies[1]);
}

TEST_F(ProcessKernelTest, ProcessesThatEndDuringAScanDoNoHarm) {
  for (int round = 0; round < 10; ++round) {
    std::vector<Victim> brief;
    brief.reserve(10);
    for (int i = 0; i < 10; ++i) brief.emplace_back(VESTA_VICTIM, "brief");
    ProcessTable fresh(registry_);
    fresh.scan();
    for (Victim& victim : brief) victim.end();
    fresh.scan();
    fresh.maintain();
    fresh.find(brief[0].pid(), 0x1000, monotonic_ns());
  }
  pump();
}

TEST_F(ProcessKernelTest, ScansTheWholeHostFast) {
  const uint64_t start = monotonic_ns();
  table_.scan();
  const uint64_t took_ns = monotonic_ns() - start;
  RecordProperty("scan_us", static_cast<int>(took_ns / 1000));
  fmt::print("scanned {} processes in {} us, {} modules, {} bytes\n", table_.size(), took_ns / 1000,
             registry_.size(), table_.memory_bytes());
  EXPECT_NE(table_.process(static_cast<uint32_t>(::getpid())), nullptr);
  EXPECT_NE(table_.find(static_cast<uint32_t>(::getpid()), reinterpret_cast<uint64_t>(&::getpid),
                        monotonic_ns()),
            nullptr);
}

TEST(SideBand, AMissingListOfCpusIsAnError) {
  SideBandOptions options;
  options.online_cpus = "/nowhere";
  const auto band = SideBand::open(options);
  ASSERT_FALSE(band);
  EXPECT_EQ(band.error().code, ErrorCode::kNotFound);
}

TEST(SideBand, FollowsCpusThatComeAndGo) {
  const TemporaryFolder folder;
  SideBandOptions options;
  options.online_cpus = folder.path() + "/online";
  write_text(options.online_cpus, "0\n");
  const auto band = SideBand::open(options);
  VESTA_REQUIRE_OR_SKIP(band.ok(), band.error().message);
  EXPECT_EQ((*band)->cpu_count(), 1);
  write_text(options.online_cpus, "0-1\n");
  EXPECT_TRUE((*band)->update_cpus());
  EXPECT_GE((*band)->cpu_count(), 1);           // two, where there are so many
  write_text(options.online_cpus, "0,8000\n");  // gone before it could be watched
  (void)(*band)->update_cpus();
  EXPECT_EQ((*band)->cpu_count(), 1);
  const Victim victim(VESTA_VICTIM, "brief");
  (*band)->drain([](const SideBandEvent&) {});
}

}  // namespace
}  // namespace vesta::agent
