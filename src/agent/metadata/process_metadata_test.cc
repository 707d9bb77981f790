#include "agent/metadata/process_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "agent/metadata/test_context.h"
#include "agent/process/test_proc.h"
#include "agent/process/test_victim.h"
#include "base/clock.h"
#include "base/text.h"

namespace vesta::agent {
namespace {

using namespace std::string_literals;  // NOLINT(google-build-using-namespace): texts with zeros
using ::testing::HasSubstr;
using ::testing::Not;

constexpr uint64_t kSecond = 1'000'000'000;
const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kUid = "8dbc3e4b-6d3c-4c58-a2a8-0d5e4b1f0f5d";

class ProcessMetadataTest : public ::testing::Test {
 protected:
  ProcessMetadataOptions options() {
    ProcessMetadataOptions out;
    out.proc_root = proc_.root();
    out.host_name = "h1";
    out.clock = [this] { return now_ns_; };
    out.containers.roots = {proc_.root() + "/host"};
    return out;
  }
  ProcessMetadata& metadata() {
    if (metadata_ == nullptr) metadata_ = std::make_unique<ProcessMetadata>(kubernetes_, options());
    return *metadata_;
  }
  void write(uint32_t pid, const char* name, std::string_view text) const {
    write_text(fmt::format("{}/{}/{}", proc_.root(), pid, name), text);
  }
  ProcessIdentity add(uint32_t pid, const std::string& executable, std::string_view maps = "") {
    proc_.add(pid, 1, base_name(executable), maps);
    std::filesystem::create_symlink(executable, fmt::format("{}/{}/exe", proc_.root(), pid));
    ProcessIdentity identity;
    identity.pid = pid;
    identity.index = pid;
    identity.name = base_name(executable);
    identity.executable = executable;
    return identity;
  }
  static std::string value(const ProcessDescription& description, std::string_view name) {
    return std::string(find_attribute(description.attributes, name));
  }
  std::string service(const ProcessIdentity& identity) {
    return value(*metadata().of(identity), "service.name");
  }

  TestProc proc_;
  uint64_t now_ns_ = 1000 * kSecond;
  Kubernetes kubernetes_{[] {
    KubernetesConfig config;
    config.enabled = false;
    return config;
  }()};
  std::unique_ptr<ProcessMetadata> metadata_;
};

TEST_F(ProcessMetadataTest, DescribesAProcess) {
  const auto got = metadata().of(add(42, "/usr/sbin/nginx"));
  EXPECT_EQ(got->attributes, (Attributes{{"host.name", "h1"},
                                         {"process.executable.name", "nginx"},
                                         {"process.executable.path", "/usr/sbin/nginx"},
                                         {"process.name", "nginx"},
                                         {"process.pid", "42"},
                                         {"process.runtime.name", "native"},
                                         {"service.name", "nginx"}}));
  EXPECT_TRUE(got->is_target);
}

TEST_F(ProcessMetadataTest, ServiceNamesComeInOrder) {
  ProcessIdentity identity = add(42, "/usr/bin/python3.11");
  const auto service_now = [&] {
    ++identity.index;
    now_ns_ += 2 * kSecond;
    return service(identity);
  };
  EXPECT_EQ(service_now(), "python3.11");
  write(42, "cmdline", "python3.11\0/srv/worker.py\0--token\0secret\0"s);
  EXPECT_EQ(service_now(), "worker.py");
  write(42, "cgroup", "0::/system.slice/jobs@1.service\n");
  EXPECT_EQ(service_now(), "jobs");
  ProcessMetadataOptions with_rules = options();
  TargetRule rule;
  rule.service = "jobs";  // the name without rules
  with_rules.service_names = {{rule, "by-rule"}};
  metadata().configure(with_rules);
  EXPECT_EQ(service_now(), "by-rule");
  write(42, "environ", "OTEL_RESOURCE_ATTRIBUTES=service.name=by-resource\0"s);
  EXPECT_EQ(service_now(), "by-resource");
  write(42, "environ",
        "OTEL_RESOURCE_ATTRIBUTES=service.name=by-resource\0OTEL_SERVICE_NAME=by-variable\0"s);
  EXPECT_EQ(service_now(), "by-variable");
  write(42, "environ", "OTEL_SERVICE_NAME=unknown_service:python\0"s);
  EXPECT_EQ(service_now(), "by-rule");
}

TEST_F(ProcessMetadataTest, ALinkIsNamedAsItWasStarted) {
  ProcessIdentity identity = add(42, "/usr/bin/redis-check-rdb");
  identity.name = "redis-server";
  write(42, "cmdline", "/usr/bin/redis-server *:6379\0"s);
  EXPECT_EQ(service(identity), "redis-server");
  EXPECT_EQ(value(*metadata().of(identity), "process.executable.name"), "redis-check-rdb");
}

TEST_F(ProcessMetadataTest, GenericScriptsAreToldApartByTheWorkingFolder) {
  const ProcessIdentity identity = add(42, "/usr/bin/python3.11");
  write(42, "cmdline", "python3.11\0manage.py\0runserver\0"s);
  std::filesystem::create_symlink("/srv/billing", fmt::format("{}/42/cwd", proc_.root()));
  EXPECT_EQ(service(identity), "billing/manage.py");
}

TEST_F(ProcessMetadataTest, KnowsWhenOnlyTheProgramGivesTheName) {
  EXPECT_TRUE(metadata().of(add(1, "/bin/ls"))->is_plain_program);
  const ProcessIdentity of_unit = add(2, "/usr/sbin/nginx");
  write(2, "cgroup", "0::/system.slice/nginx.service\n");
  EXPECT_FALSE(metadata().of(of_unit)->is_plain_program);
  const ProcessIdentity in_container = add(3, "/bin/shop");
  write(3, "cgroup", "0::/system.slice/docker-" + kId + ".scope\n");
  EXPECT_FALSE(metadata().of(in_container)->is_plain_program);
  const ProcessIdentity declared = add(4, "/bin/shop");
  write(4, "environ", "OTEL_SERVICE_NAME=shop\0"s);
  EXPECT_FALSE(metadata().of(declared)->is_plain_program);
  ProcessMetadataOptions rules = options();
  rules.relabel = [](Attributes& attributes) {
    set_attribute(attributes, "service.name", "relabelled");
    return true;
  };
  metadata().configure(rules);
  EXPECT_FALSE(metadata().of(add(5, "/bin/ls"))->is_plain_program);
}

TEST_F(ProcessMetadataTest, AContextOfTheProcessWinsOverItsEnvironment) {
  const ProcessIdentity identity =
      add(42, "/bin/shop", "10000-20000 rw-p 00000000 00:00 0   [anon:OTEL_CTX]\n");
  write(42, "environ", "OTEL_SERVICE_NAME=by-variable\0OTEL_RESOURCE_ATTRIBUTES=a=1,b=1\0"s);
  const std::string payload = make_context({{"service.name", "by-context"},
                                            {"b", "2"},
                                            {"process.pid", "1"},
                                            {"telemetry.sdk.name", "libdatadog"},
                                            {"process.command_line", "secret"}});
  std::string memory(0x10000, '\0');
  memory += "OTEL_CTX";
  const auto append = [&](auto number) {
    memory.append(reinterpret_cast<const char*>(&number), sizeof(number));
  };
  append(uint32_t{2});
  append(static_cast<uint32_t>(payload.size()));
  append(uint64_t{77});
  append(uint64_t{0x10020});
  write(42, "mem", memory + payload);
  const auto got = metadata().of(identity);
  EXPECT_EQ(value(*got, "service.name"), "by-context");
  EXPECT_EQ(value(*got, "a"), "1");
  EXPECT_EQ(value(*got, "b"), "2");
  EXPECT_EQ(value(*got, "process.pid"), "42");  // as the host knows it
  EXPECT_EQ(value(*got, "process.command_line"), "");
  EXPECT_EQ(value(*got, "telemetry.sdk.name"), "");  // that is not what makes these profiles
  EXPECT_EQ(metadata().stats().contexts, 1U);
}

TEST_F(ProcessMetadataTest, NoCommandLineAndNoEnvironmentLeaks) {
  ProcessMetadataOptions with_variable = options();
  with_variable.environment = {"REGION"};
  metadata().configure(with_variable);
  const ProcessIdentity identity = add(42, "/usr/bin/python3.11");
  write(42, "cmdline", "python3.11\0worker.py\0--password=hunter2\0"s);
  write(42, "environ", "PASSWORD=hunter2\0REGION=eu\0"s);
  const auto got = metadata().of(identity);
  for (const auto& [name, text] : got->attributes) EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  EXPECT_EQ(value(*got, "process.environment_variable.REGION"), "eu");
}

TEST_F(ProcessMetadataTest, ContainersAreKnownByCgroupAndByMounts) {
  const ProcessIdentity by_cgroup = add(42, "/bin/shop");
  write(42, "cgroup", "0::/system.slice/docker-" + kId + ".scope\n");
  EXPECT_EQ(value(*metadata().of(by_cgroup), "container.id"), kId);
  EXPECT_EQ(value(*metadata().of(by_cgroup), "container.runtime"), "docker");
  const ProcessIdentity hidden = add(43, "/bin/shop");
  write(43, "cgroup", "0::/\n");
  write(43, "mountinfo",
        "1 2 8:1 /docker/containers/" + kId + "/hostname /etc/hostname rw - ext4 /dev/sda rw\n");
  EXPECT_EQ(value(*metadata().of(hidden), "container.id"), kId);
}

TEST_F(ProcessMetadataTest, ContainersHaveTheNamesThatTheirRuntimeKnows) {
  const std::string folder = proc_.root() + "/host/var/lib/docker/containers/" + kId;
  std::filesystem::create_directories(folder);
  write_text(folder + "/config.v2.json",
             R"({"Name":"/shop-web-1","Config":{"Image":"acme/web:2"}})");
  const ProcessIdentity identity = add(42, "/bin/server");
  write(42, "cgroup", "0::/system.slice/docker-" + kId + ".scope\n");
  const auto got = metadata().of(identity);
  EXPECT_EQ(value(*got, "container.name"), "shop-web-1");
  EXPECT_EQ(value(*got, "container.image.name"), "acme/web");
  EXPECT_EQ(value(*got, "container.image.tags"), "2");
  EXPECT_EQ(value(*got, "service.name"), "shop-web-1");
  write(42, "environ", "OTEL_SERVICE_NAME=web\0"s);
  now_ns_ += 6 * kSecond;
  EXPECT_EQ(service(identity), "web");
}

TEST_F(ProcessMetadataTest, AProcessThatHasGoneIsDescribedByWhatIsLeft) {
  ProcessIdentity identity;
  identity.pid = 99;
  identity.name = "brief";
  identity.executable = "/bin/brief";
  identity.cgroup = "0::/system.slice/docker-" + kId + ".scope\n";
  const auto got = metadata().of(identity);
  EXPECT_EQ(got->attributes, (Attributes{{"container.id", kId},
                                         {"container.runtime", "docker"},
                                         {"host.name", "h1"},
                                         {"process.executable.name", "brief"},
                                         {"process.executable.path", "/bin/brief"},
                                         {"process.name", "brief"},
                                         {"process.pid", "99"},
                                         {"service.name", "brief"}}));
  EXPECT_EQ(metadata().stats().gone, 1U);
}

// Whoever follows processes has read the cgroup when it began.
TEST_F(ProcessMetadataTest, TheCgroupOfAYoungProcessIsReadOnce) {
  ProcessIdentity identity = add(42, "/usr/bin/python3.11");
  identity.start_ns = now_ns_ - kSecond / 10;
  identity.cgroup = "1:cpu:/\n0::/system.slice/jobs.service\n";
  std::filesystem::remove(fmt::format("{}/42/cgroup", proc_.root()));
  EXPECT_EQ(service(identity), "jobs");
  // It may be moved later.
  write(42, "cgroup", "0::/system.slice/moved.service\n");
  now_ns_ += 2 * kSecond;  // its memory map is due
  EXPECT_EQ(service(identity), "jobs");
  now_ns_ += 6 * kSecond;
  EXPECT_EQ(service(identity), "moved");
}

TEST_F(ProcessMetadataTest, AProcessThatHasEndedButIsNotCollectedHasGone) {
  ProcessIdentity identity = add(42, "/bin/brief");
  std::filesystem::remove(fmt::format("{}/42/exe", proc_.root()));
  write(42, "environ", "OTEL_SERVICE_NAME=of-nobody\0"s);
  EXPECT_EQ(service(identity), "brief");
  EXPECT_EQ(metadata().stats().gone, 1U);
}

TEST_F(ProcessMetadataTest, AnIdThatIsAnothersByNowIsNotRead) {
  ProcessIdentity identity = add(42, "/bin/new");
  write(42, "environ", "OTEL_SERVICE_NAME=of-another\0"s);
  identity.executable = "/bin/old";
  identity.name = "old";
  EXPECT_EQ(service(identity), "old");
}

TEST_F(ProcessMetadataTest, AnotherProgramIsReadAnew) {
  ProcessIdentity identity = add(42, "/bin/first");
  EXPECT_EQ(service(identity), "first");
  std::filesystem::remove(fmt::format("{}/42/exe", proc_.root()));
  std::filesystem::create_symlink("/bin/second", fmt::format("{}/42/exe", proc_.root()));
  identity.executable = "/bin/second";
  identity.name = "second";
  ++identity.index;
  EXPECT_EQ(service(identity), "second");
  EXPECT_EQ(metadata().stats().processes, 1U);
}

TEST_F(ProcessMetadataTest, ANameThatChangesAllTheTimeCostsNoReading) {
  ProcessIdentity identity = add(42, "/bin/first");
  for (uint32_t i = 0; i < 100; ++i) {
    identity.index = 1000 + i;
    identity.name = "name" + std::to_string(i);
    now_ns_ += 1000;
    EXPECT_EQ(value(*metadata().of(identity), "process.name"), identity.name);
  }
  EXPECT_EQ(metadata().stats().reads, 1U);
}

TEST_F(ProcessMetadataTest, WhatIsSaidLaterIsSeenLater) {
  const ProcessIdentity identity = add(42, "/bin/shop");
  EXPECT_EQ(service(identity), "shop");
  write(42, "environ", "OTEL_SERVICE_NAME=later\0"s);
  EXPECT_EQ(service(identity), "shop");
  now_ns_ += 6 * kSecond;
  EXPECT_EQ(service(identity), "later");
  // Less and less often.
  for (int i = 0; i < 600; ++i) {
    now_ns_ += 10 * kSecond;
    service(identity);
  }
  EXPECT_LT(metadata().stats().rereads, 30U);
  // And when it has gone, what was known stays.
  proc_.remove(42);
  now_ns_ += 400 * kSecond;
  EXPECT_EQ(service(identity), "later");
}

TEST_F(ProcessMetadataTest, BeingFrugalPostponesMemoryMapsOfManyNewProcesses) {
  const std::string maps = "1000-2000 r-xp 00000000 08:01 7 /usr/lib/libpython3.11.so.1.0\n";
  metadata().set_frugal(true);
  uint32_t with_runtime = 0;
  std::vector<ProcessIdentity> all;
  for (uint32_t pid = 1; pid <= 50; ++pid) {
    all.push_back(add(pid, "/bin/embedded", maps));
    write(pid, "environ", "OTEL_SERVICE_NAME=shop\0"s);
    const auto got = metadata().of(all.back());
    EXPECT_EQ(value(*got, "service.name"), "shop");
    with_runtime += value(*got, "process.runtime.name").empty() ? 0 : 1;
  }
  EXPECT_EQ(with_runtime, 10U);
  EXPECT_EQ(metadata().stats().brief, 40U);
  // Those that live long are known in the end.
  for (int i = 0; i < 60; ++i) {
    now_ns_ += 10 * kSecond;
    for (const ProcessIdentity& identity : all) metadata().of(identity);
  }
  for (const ProcessIdentity& identity : all)
    EXPECT_EQ(value(*metadata().of(identity), "process.runtime.name"), "cpython");
}

TEST_F(ProcessMetadataTest, MemoryMapsAreReadWhenAProcessHasLivedForASecond) {
  const std::string maps = "1000-2000 r-xp 00000000 08:01 7 /usr/lib/libpython3.11.so.1.0\n";
  ProcessIdentity identity = add(42, "/bin/embedded", maps);
  identity.start_ns = now_ns_ - kSecond / 10;
  const auto young = metadata().of(identity);
  EXPECT_TRUE(young->is_preliminary);
  EXPECT_EQ(value(*young, "process.runtime.name"), "");
  EXPECT_EQ(metadata().stats().brief, 1U);
  now_ns_ += kSecond;
  const auto older = metadata().of(identity);
  EXPECT_FALSE(older->is_preliminary);
  EXPECT_EQ(value(*older, "process.runtime.name"), "cpython");
  // The next readings are when they would be without the first.
  now_ns_ += 5 * kSecond;
  metadata().of(identity);
  EXPECT_EQ(metadata().stats().rereads, 2U);
  // One that is known from before its first second is over needs no map for what its name says.
  ProcessIdentity script = add(43, "/usr/bin/python3.11", "");
  script.start_ns = now_ns_;
  EXPECT_EQ(value(*metadata().of(script), "process.runtime.name"), "cpython");
}

TEST_F(ProcessMetadataTest, TheSameDescriptionIsSharedWhileNothingChanges) {
  const ProcessIdentity identity = add(42, "/bin/shop");
  const auto first = metadata().of(identity);
  now_ns_ += kSecond;
  EXPECT_EQ(metadata().of(identity), first);
}

TEST_F(ProcessMetadataTest, KernelThreadsAreOneService) {
  proc_.add(2, 0, "kthreadd", "");
  ProcessIdentity identity;
  identity.pid = 2;
  identity.name = "kworker/0:1";
  identity.is_kernel_thread = true;
  EXPECT_EQ(service(identity), "kernel");
}

TEST_F(ProcessMetadataTest, TargetsLabelsAndRelabellingAreApplied) {
  ProcessMetadataOptions rules = options();
  TargetRule excluded;
  excluded.executable = "sshd";
  rules.targets.exclude = {excluded};
  rules.labels = {{"region", "eu"}};
  rules.relabel = [](Attributes& attributes) {
    attributes.emplace_back("added", "x");
    return find_attribute(attributes, "service.name") != "dropped";
  };
  metadata().configure(rules);
  const auto shop = metadata().of(add(1, "/bin/shop"));
  EXPECT_TRUE(shop->is_target);
  EXPECT_EQ(value(*shop, "region"), "eu");
  EXPECT_EQ(value(*shop, "added"), "x");
  EXPECT_FALSE(metadata().of(add(2, "/usr/sbin/sshd"))->is_target);
  EXPECT_FALSE(metadata().of(add(3, "/bin/dropped"))->is_target);
}

TEST_F(ProcessMetadataTest, TenThousandProcessesStayWithinTheLimits) {
  constexpr uint32_t kCount = 10'000;
  // All of them are one folder under many names.
  std::vector<ProcessIdentity> all = {add(1, "/bin/shop")};
  for (uint32_t pid = 2; pid <= kCount; ++pid) {
    std::filesystem::create_symlink("1", fmt::format("{}/{}", proc_.root(), pid));
    all.push_back(all.front());
    all.back().pid = pid;
  }
  ProcessMetadataOptions limited = options();
  limited.max_processes = 4096;
  limited.max_bytes = size_t{4} << 20;
  metadata().configure(limited);
  const uint64_t start_ns = monotonic_ns();
  for (const ProcessIdentity& identity : all) {
    metadata().of(identity);
    ASSERT_LE(metadata().stats().processes, limited.max_processes);
    ASSERT_LE(metadata().stats().bytes, limited.max_bytes);
  }
  const uint64_t took_ns = monotonic_ns() - start_ns;
  const ProcessMetadataStats stats = metadata().stats();
  EXPECT_GT(stats.evicted, 0U);
  RecordProperty("processes", std::to_string(stats.processes));
  RecordProperty("us_per_process", std::to_string(took_ns / 1000 / kCount));
  RecordProperty("bytes_per_process", std::to_string(stats.bytes / stats.processes));
  EXPECT_LT(took_ns / kCount, 5'000'000U);
}

TEST_F(ProcessMetadataTest, AProcessWithVeryManyMappingsAndAHugeEnvironmentIsReadInBoundedTime) {
  std::string maps;
  for (uint64_t i = 0; i < 200'000; ++i)
    maps += fmt::format("{:x}-{:x} rw-p 00000000 00:00 0 \n", 0x10000 + i * 0x2000,
                        0x11000 + i * 0x2000);
  const ProcessIdentity identity = add(42, "/bin/shop", maps);
  write(42, "environ", std::string(8 << 20, 'x'));
  const uint64_t start_ns = monotonic_ns();
  EXPECT_EQ(service(identity), "shop");
  EXPECT_LT(monotonic_ns() - start_ns, 1'000'000'000U);
}

TEST(ProcessMetadataLive, DescribesItselfAndEveryoneElse) {
  KubernetesConfig off;
  off.enabled = false;
  Kubernetes kubernetes(off);
  ProcessMetadata metadata(kubernetes, {});
  ProcessIdentity self;
  self.pid = static_cast<uint32_t>(::getpid());
  const auto got = metadata.of(self);
  EXPECT_EQ(find_attribute(got->attributes, "process.executable.name"), "agent_tests");
  EXPECT_EQ(find_attribute(got->attributes, "process.runtime.name"), "native");
  uint64_t count = 0;
  for (const uint32_t pid : list_processes("/proc")) {
    ProcessIdentity identity;
    identity.pid = pid;
    const auto description = metadata.of(identity);
    EXPECT_NE(find_attribute(description->attributes, "service.name"), "") << pid;
    EXPECT_TRUE(std::ranges::is_sorted(description->attributes));
    ++count;
  }
  const ProcessMetadataStats stats = metadata.stats();
  RecordProperty("us_per_live_process", std::to_string(stats.read_ns / 1000 / stats.reads));
}

}  // namespace
}  // namespace vesta::agent
