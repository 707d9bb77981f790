#include "agent/doctor/doctor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

class FakeKernel final : public Kernel {
 public:
  Name name() const override { return name_; }
  int load_program(BpfProgramKind kind) const override {
    const auto found = refused_.find(kind);
    return found == refused_.end() ? 0 : found->second;
  }
  int make_task_storage() const override { return task_storage_; }
  int open_cpu_clock() const override { return cpu_clock_; }
  int open_hardware_cycles() const override { return cycles_; }
  Limit locked_memory() const override { return locked_memory_; }
  Limit open_files() const override { return open_files_; }
  std::optional<std::string> environment(const std::string& name) const override {
    const auto found = environment_.find(name);
    if (found == environment_.end()) return std::nullopt;
    return found->second;
  }

  Name name_ = {"6.12.3", "#1 SMP", "x86_64"};
  std::map<BpfProgramKind, int> refused_;
  int task_storage_ = 0;
  int cpu_clock_ = 0;
  int cycles_ = 0;
  Limit locked_memory_ = {8 << 20, 8 << 20};
  Limit open_files_ = {65536, 65536};
  std::map<std::string, std::string> environment_;
};

constexpr const char* kRootStatus =
    "Name:\tvesta\nCapPrm:\t000001ffffffffff\nCapEff:\t000001ffffffffff\nSeccomp:\t0\n";
constexpr const char* kUserStatus = "Name:\tvesta\nCapEff:\t0000000000000000\nSeccomp:\t0\n";
// CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE.
constexpr const char* kLeastStatus = "Name:\tvesta\nCapEff:\t000000c000080000\nSeccomp:\t0\n";

// A healthy machine; each test breaks one thing.
class Doctor : public testing::Test {
 protected:
  void SetUp() override {
    write("/proc/self/status", kRootStatus);
    write("/proc/self/cgroup", "0::/system.slice/vesta.service\n");
    write("/proc/1/cgroup", "0::/init.scope\n");
    write("/proc/kallsyms", "0000000000000000 A fixed_percpu\nffffffff81000000 T _stext\n");
    write("/proc/sys/kernel/kptr_restrict", "0\n");
    write("/proc/sys/kernel/perf_event_paranoid", "2\n");
    write("/sys/kernel/btf/vmlinux", "\x9f\xeb\x01");
    write("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
    write("/proc/self/mounts",
          "proc /proc proc rw 0 0\ntracefs /sys/kernel/tracing tracefs rw,nosuid 0 0\n");
    write("/sys/fs/cgroup/cgroup.controllers", "memory\n");
    write("/sys/fs/cgroup/system.slice/vesta.service/memory.max", "max\n");
    write("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
    write("/usr/lib/debug/.build-id/00/1.debug", "");
    std::filesystem::create_directories(root_.string() + "/proc/self/ns");
    std::filesystem::create_symlink("pid:[4026531836]", root_.string() + "/proc/self/ns/pid");
  }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_.string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  void remove(const std::string& path) { std::filesystem::remove_all(root_.string() + path); }
  SystemView system() const { return {kernel_, root_.string()}; }

  TemporaryFolder folder_;
  std::filesystem::path root_ = folder_.path();
  FakeKernel kernel_;
};

#define EXPECT_CHECK(check, expected_status, text)                                              \
  do {                                                                                          \
    const Check result = (check);                                                               \
    EXPECT_EQ(static_cast<int>(result.status), static_cast<int>(CheckStatus::expected_status)); \
    EXPECT_NE((result.message + "\n" + result.fix).find(text), std::string::npos)               \
        << result.message << "\n"                                                               \
        << result.fix;                                                                          \
  } while (false)

TEST_F(Doctor, FindsNothingOnAHealthyMachine) {
  std::set<std::string> names;
  for (const Check& check : examine(system())) {
    EXPECT_EQ(static_cast<int>(check.status), static_cast<int>(CheckStatus::kPass))
        << check.name << ": " << check.message;
    EXPECT_FALSE(check.message.empty()) << check.name;
    EXPECT_TRUE(check.fix.empty()) << check.name;
    EXPECT_TRUE(names.insert(check.name).second) << check.name << " appears twice";
  }
  EXPECT_EQ(names.size(), 23U);
}

TEST_F(Doctor, SaysHowToMendWhatIsWrong) {
  // Nothing at all: an empty root, and a kernel that refuses everything.
  std::filesystem::remove_all(root_);
  kernel_.name_ = {"4.19.0", "#1", "aarch64"};
  for (const auto kind : {BpfProgramKind::kPerfEvent, BpfProgramKind::kRawTracepoint,
                          BpfProgramKind::kTracingTracepoint, BpfProgramKind::kTaskIterator,
                          BpfProgramKind::kUprobeMulti}) {
    kernel_.refused_[kind] = EPERM;
  }
  kernel_.task_storage_ = EINVAL;
  kernel_.cpu_clock_ = EACCES;
  kernel_.cycles_ = ENOENT;
  kernel_.open_files_ = {256, 512};
  for (const Check& check : examine(system())) {
    EXPECT_FALSE(check.message.empty()) << check.name;
    EXPECT_EQ(check.status == CheckStatus::kPass, check.fix.empty()) << check.name;
  }
}

TEST_F(Doctor, KnowsKernelsThatAreTooOldOrDangerous) {
  const auto check = [&](const std::string& release, const std::string& version = "#1") {
    kernel_.name_ = {release, version, "x86_64"};
    return check_kernel_version(system());
  };
  EXPECT_CHECK(check("5.16.20"), kFail, "bpf_loop");
  EXPECT_CHECK(check("4.18.0-553.el8"), kFail, "5.17");
  EXPECT_CHECK(check("5.17.0"), kPass, "5.17.0");
  EXPECT_CHECK(check("6.18-rc1"), kPass, "6.18");
  EXPECT_CHECK(check("5.19.17"), kFail, "freeze");
  EXPECT_CHECK(check("6.0.1"), kFail, "freeze");
  EXPECT_CHECK(check("6.1.35"), kFail, "6.1.36");
  EXPECT_CHECK(check("6.1.36"), kPass, "6.1.36");
  EXPECT_CHECK(check("6.2.16"), kFail, "freeze");
  EXPECT_CHECK(check("6.3.9"), kFail, "6.3.10");
  EXPECT_CHECK(check("6.3.10"), kPass, "6.3.10");
  EXPECT_CHECK(check("6.4.0"), kPass, "6.4.0");
  EXPECT_CHECK(check("strange"), kWarn, "not a version number");
}

TEST_F(Doctor, ReadsTheVersionWhereDebianAndUbuntuWriteIt) {
  kernel_.name_ = {"6.1.0-18-amd64", "#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1 (2024-02-01)",
                   "x86_64"};
  EXPECT_CHECK(check_kernel_version(system()), kPass, "6.1.0-18-amd64 (Linux 6.1.76)");
  kernel_.name_.version = "#1 SMP PREEMPT_DYNAMIC Debian 6.1.27-1 (2023-05-08)";
  EXPECT_CHECK(check_kernel_version(system()), kFail, "6.1.27");
  kernel_.name_ = {"6.5.0-39-generic", "#40-Ubuntu SMP", "x86_64"};
  write("/proc/version_signature", "Ubuntu 6.5.0-39.40~22.04.1-generic 6.5.13\n");
  EXPECT_CHECK(check_kernel_version(system()), kPass, "6.5.13");
}

TEST_F(Doctor, ChecksTheArchitecture) {
  kernel_.name_.machine = "aarch64";
  EXPECT_CHECK(check_architecture(system()), kFail, "aarch64");
}

TEST_F(Doctor, ChecksBtf) {
  write("/sys/kernel/btf/vmlinux", "nonsense");
  EXPECT_CHECK(check_btf(system()), kFail, "no BTF");
  remove("/sys/kernel/btf/vmlinux");
  EXPECT_CHECK(check_btf(system()), kFail, "CONFIG_DEBUG_INFO_BTF");
}

TEST_F(Doctor, NamesTheErrnoOfProgramsThatDoNotLoad) {
  kernel_.refused_[BpfProgramKind::kPerfEvent] = EPERM;
  write("/proc/self/status", kUserStatus);
  const Check check = check_bpf_program(system(), BpfProgramKind::kPerfEvent);
  EXPECT_CHECK(check, kFail, "EPERM (Operation not permitted)");
  EXPECT_CHECK(check, kFail, "setcap");
  write("/proc/self/status", kRootStatus);
  EXPECT_CHECK(check_bpf_program(system(), BpfProgramKind::kPerfEvent), kFail, "lockdown");
  kernel_.refused_[BpfProgramKind::kUprobeMulti] = EINVAL;
  EXPECT_CHECK(check_bpf_program(system(), BpfProgramKind::kUprobeMulti), kWarn, "6.6");
  kernel_.refused_[BpfProgramKind::kRawTracepoint] = ENOSYS;
  EXPECT_CHECK(check_bpf_program(system(), BpfProgramKind::kRawTracepoint), kWarn,
               "CONFIG_BPF_SYSCALL");
}

TEST_F(Doctor, SaysWhatProfilesOfWaitsLack) {
  EXPECT_CHECK(check_task_storage(system()), kPass, "data about threads");
  kernel_.task_storage_ = EINVAL;
  EXPECT_CHECK(check_task_storage(system()), kWarn, "5.11");
  EXPECT_CHECK(check_task_storage(system()), kWarn, "off-CPU, wall and block");
  kernel_.refused_[BpfProgramKind::kTaskIterator] = ENOENT;
  EXPECT_CHECK(check_bpf_program(system(), BpfProgramKind::kTaskIterator), kWarn, "off-CPU");
  kernel_.refused_[BpfProgramKind::kTracingTracepoint] = ENOENT;
  EXPECT_CHECK(check_bpf_program(system(), BpfProgramKind::kTracingTracepoint), kWarn, "wall");
}

TEST_F(Doctor, SaysWhatEachMissingCapabilityCosts) {
  write("/proc/self/status", kUserStatus);
  EXPECT_CHECK(check_capabilities(system()), kFail,
               "CAP_BPF is missing: BPF programs cannot be loaded");
  EXPECT_CHECK(check_capabilities(system()), kFail, "setcap cap_bpf,cap_perfmon");
  write("/proc/self/status", kLeastStatus);
  const Check least = check_capabilities(system());
  EXPECT_CHECK(least, kWarn, "CAP_DAC_READ_SEARCH is missing");
  EXPECT_CHECK(least, kWarn, "CAP_CHECKPOINT_RESTORE is missing");
  EXPECT_EQ(least.message.find("CAP_BPF"), std::string::npos);
  // CAP_SYS_ADMIN stands for CAP_BPF, CAP_PERFMON and CAP_CHECKPOINT_RESTORE only.
  write("/proc/self/status", "Name:\tvesta\nCapEff:\t0000000000200000\n");
  const Check admin = check_capabilities(system());
  EXPECT_CHECK(admin, kWarn, "CAP_SYS_PTRACE is missing");
  EXPECT_EQ(admin.message.find("CAP_CHECKPOINT_RESTORE"), std::string::npos);
}

TEST_F(Doctor, ReadsPerfParanoiaTogetherWithCapabilities) {
  EXPECT_CHECK(check_perf_events(system()), kPass, "perf_event_paranoid = 2");
  kernel_.cpu_clock_ = EACCES;
  write("/proc/self/status", kUserStatus);
  EXPECT_CHECK(check_perf_events(system()), kFail, "CAP_PERFMON is missing");
  write("/proc/self/status", kRootStatus);
  EXPECT_CHECK(check_perf_events(system()), kFail, "seccomp");
  kernel_.cpu_clock_ = ENOSYS;
  EXPECT_CHECK(check_perf_events(system()), kFail, "CONFIG_PERF_EVENTS");
}

TEST_F(Doctor, WarnsWithoutHardwareCounters) {
  kernel_.cycles_ = ENOENT;
  EXPECT_CHECK(check_hardware_counters(system()), kWarn, "ENOENT");
}

TEST_F(Doctor, KnowsTheModesOfLockdown) {
  write("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  EXPECT_CHECK(check_lockdown(system()), kPass, "integrity");
  write("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
  EXPECT_CHECK(check_lockdown(system()), kFail, "lockdown=confidentiality");
  remove("/sys/kernel/security/lockdown");
  EXPECT_CHECK(check_lockdown(system()), kPass, "unknown");
}

TEST_F(Doctor, WarnsOfSeccompOnlyWhereItStopsSomething) {
  write("/proc/self/status", "Name:\tvesta\nCapEff:\t000001ffffffffff\nSeccomp:\t2\n");
  EXPECT_CHECK(check_seccomp(system()), kPass, "allows bpf and perf_event_open");
  kernel_.refused_[BpfProgramKind::kPerfEvent] = EPERM;
  EXPECT_CHECK(check_seccomp(system()), kWarn, "seccomp=unconfined");
}

TEST_F(Doctor, SeesHiddenKernelSymbols) {
  write("/proc/kallsyms", "0000000000000000 T _stext\n0000000000000000 T _text\n");
  write("/proc/sys/kernel/kptr_restrict", "2\n");
  EXPECT_CHECK(check_kernel_symbols(system()), kWarn, "kptr_restrict = 2");
  EXPECT_CHECK(check_kernel_symbols(system()), kWarn, "sysctl -w kernel.kptr_restrict=1");
  write("/proc/sys/kernel/kptr_restrict", "0\n");
  write("/proc/self/status", kLeastStatus);
  EXPECT_CHECK(check_kernel_symbols(system()), kWarn, "without CAP_SYSLOG");
  EXPECT_CHECK(check_kernel_symbols(system()), kWarn, "cap_syslog");
  remove("/proc/kallsyms");
  EXPECT_CHECK(check_kernel_symbols(system()), kWarn, "CONFIG_KALLSYMS");
}

TEST_F(Doctor, WarnsOfSlowClocks) {
  constexpr const char* kFile = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  write(kFile, "hpet\n");
  EXPECT_CHECK(check_clock_source(system()), kWarn, "tsc=reliable");
  write(kFile, "kvm-clock\n");
  EXPECT_CHECK(check_clock_source(system()), kPass, "kvm-clock");
  remove(kFile);
  EXPECT_CHECK(check_clock_source(system()), kPass, "unknown");
}

TEST_F(Doctor, CallsLockedMemoryHarmlessOnNewKernels) {
  EXPECT_CHECK(check_locked_memory(system()), kPass, "no effect");
  kernel_.name_.release = "5.10.0";
  EXPECT_CHECK(check_locked_memory(system()), kWarn, "ulimit -l unlimited");
  kernel_.locked_memory_ = {Kernel::kUnlimited, Kernel::kUnlimited};
  EXPECT_CHECK(check_locked_memory(system()), kPass, "unlimited");
}

TEST_F(Doctor, WarnsOfFewOpenFiles) {
  kernel_.open_files_ = {256, 4096};
  EXPECT_CHECK(check_open_files(system()), kWarn, "ulimit -n 4096");
  kernel_.open_files_ = {256, 512};
  EXPECT_CHECK(check_open_files(system()), kWarn, "LimitNOFILE");
}

TEST_F(Doctor, ReadsTheMemoryLimitOfItsCgroup) {
  EXPECT_CHECK(check_cgroup(system()), kPass, "version 2; no memory limit");
  write("/sys/fs/cgroup/system.slice/vesta.service/memory.max", "67108864\n");
  EXPECT_CHECK(check_cgroup(system()), kWarn, "64MB");
  write("/sys/fs/cgroup/system.slice/vesta.service/memory.max", "1073741824\n");
  EXPECT_CHECK(check_cgroup(system()), kPass, "1GB");
  remove("/sys/fs/cgroup/cgroup.controllers");
  write("/proc/self/cgroup", "9:name=systemd:/\n8:memory:/docker/abc\n");
  write("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "33554432\n");
  EXPECT_CHECK(check_cgroup(system()), kWarn, "version 1");
  write("/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_CHECK(check_cgroup(system()), kPass, "no memory limit");
  remove("/sys/fs/cgroup");
  EXPECT_CHECK(check_cgroup(system()), kWarn, "mount");
}

TEST_F(Doctor, KnowsContainersAndTheirPidNamespace) {
  write("/.dockerenv", "");
  EXPECT_CHECK(check_container(system()), kPass, "docker");  // with the host's pids it is fine
  remove("/proc/self/ns/pid");
  std::filesystem::create_symlink("pid:[4026532222]", root_.string() + "/proc/self/ns/pid");
  EXPECT_CHECK(check_container(system()), kWarn, "--pid=host");
  EXPECT_CHECK(check_pid_namespace(system()), kWarn, "hostPID");
  remove("/.dockerenv");
  kernel_.environment_["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  EXPECT_CHECK(check_container(system()), kWarn, "kubernetes");
}

TEST_F(Doctor, SaysThatTracefsIsNotNeededForCpuProfiles) {
  EXPECT_CHECK(check_tracefs(system()), kPass, "/sys/kernel/tracing");
  write("/proc/self/mounts", "proc /proc proc rw 0 0\n");
  EXPECT_CHECK(check_tracefs(system()), kWarn, "CPU profiling does not need it");
  EXPECT_CHECK(check_tracefs(system()), kWarn, "mount -t tracefs");
}

TEST_F(Doctor, LooksForDebugInformation) {
  remove("/usr/lib/debug");
  write("/etc/os-release", "NAME=\"Debian\"\nID=debian\n");
  EXPECT_CHECK(check_debug_info(system()), kWarn, "debuginfod.debian.net");
  kernel_.environment_["DEBUGINFOD_URLS"] = "https://example.com";
  EXPECT_CHECK(check_debug_info(system()), kPass, "https://example.com");
}

TEST(Privileges, SayPreciselyWhatIsMissing) {
  EXPECT_EQ(missing_capabilities(CapabilitySet(0)), "CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE");
  EXPECT_EQ(missing_capabilities(CapabilitySet(1ULL << 39)), "CAP_PERFMON and CAP_SYS_PTRACE");
  EXPECT_EQ(missing_capabilities(CapabilitySet(1ULL << 21)), "CAP_SYS_PTRACE");
  EXPECT_EQ(missing_capabilities(CapabilitySet(UINT64_MAX)), "");
  const Error error = permission_error("load the sampler", EPERM, CapabilitySet(1ULL << 39));
  EXPECT_EQ(error.code, ErrorCode::kPermission);
  EXPECT_EQ(error.message,
            "cannot load the sampler: EPERM (Operation not permitted); missing CAP_PERFMON and "
            "CAP_SYS_PTRACE");
  EXPECT_NE(error.hint.find("sudo setcap"), std::string::npos);
  EXPECT_NE(permission_error("x", EPERM, CapabilitySet(UINT64_MAX)).hint.find("lockdown"),
            std::string::npos);
  EXPECT_EQ(permission_error("x", ENOSPC, CapabilitySet(0)).code, ErrorCode::kIo);
}

TEST(Privileges, ReadTheEffectiveSet) {
  EXPECT_FALSE(CapabilitySet::from_status("Name:\tx\n").has_value());
  EXPECT_FALSE(CapabilitySet::from_status("\nCapEff:\tzz\n").has_value());
  EXPECT_FALSE(CapabilitySet::from_status("\nCapEff:").has_value());
  EXPECT_TRUE(CapabilitySet::from_status(kLeastStatus)->has(Capability::kBpf));
  EXPECT_FALSE(CapabilitySet::from_status(kLeastStatus)->has(Capability::kSysAdmin));
}

TEST(LinuxKernel, AnswersOnThisMachine) {
  const LinuxKernel kernel;
  const SystemView system(kernel, "");
  EXPECT_FALSE(kernel.name().release.empty());
  EXPECT_GT(kernel.open_files().soft, 0U);
  for (const Check& check : examine(system)) {
    EXPECT_EQ(check.status == CheckStatus::kPass, check.fix.empty()) << check.name;
  }
  // With every capability, no program type that we use may be refused for lack of one.
  if (missing_capabilities().empty()) {
    EXPECT_NE(kernel.load_program(BpfProgramKind::kPerfEvent), EACCES);
  }
}

}  // namespace
}  // namespace vesta::agent
