#include "agent/metadata/cgroup.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace vesta::agent {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kOther = "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";
const std::string kUid = "8dbc3e4b-6d3c-4c58-a2a8-0d5e4b1f0f5d";
const std::string kSliceUid = "8dbc3e4b_6d3c_4c58_a2a8_0d5e4b1f0f5d";
const std::string kTask = "0123456789abcdef0123456789abcdef";

struct Case {
  const char* what;
  std::string text;
  std::string id;
  std::string runtime;
  std::string pod;
  std::string unit;
};

class Cgroup : public ::testing::TestWithParam<Case> {};

TEST_P(Cgroup, IsRead) {
  const CgroupIdentity got = parse_cgroup(GetParam().text);
  EXPECT_EQ(got.container_id, GetParam().id);
  EXPECT_EQ(got.runtime, GetParam().runtime);
  EXPECT_EQ(got.pod_uid, GetParam().pod);
  EXPECT_EQ(got.unit, GetParam().unit);
  EXPECT_FALSE(got.is_hidden);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Cgroup,
    ::testing::Values(
        Case{"DockerV1",
             "12:pids:/docker/" + kId + "\n1:name=systemd:/docker/" + kId +
                 "\n0::/system.slice/containerd.service\n",
             kId, "docker", "", ""},
        Case{"DockerV2Systemd", "0::/system.slice/docker-" + kId + ".scope\n", kId, "docker", "",
             ""},
        Case{"DockerV2InnerFolder", "0::/system.slice/docker-" + kId + ".scope/init\n", kId,
             "docker", "", ""},
        Case{"ContainerdSystemdDriver",
             "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + kSliceUid +
                 ".slice/cri-containerd-" + kId + ".scope\n",
             kId, "containerd", kUid, ""},
        Case{"ContainerdCgroupfsDriver", "0::/kubepods/burstable/pod" + kUid + "/" + kId + "\n",
             kId, "", kUid, ""},
        Case{"GuaranteedPod",
             "0::/kubepods.slice/kubepods-pod" + kSliceUid + ".slice/crio-" + kId + ".scope\n", kId,
             "cri-o", kUid, ""},
        Case{"CrioCgroupfs", "0::/kubepods/besteffort/pod" + kUid + "/crio-" + kId + "\n", kId,
             "cri-o", kUid, ""},
        Case{"CrioContainerFolder",
             "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + kSliceUid +
                 ".slice/crio-" + kId + ".scope/container\n",
             kId, "cri-o", kUid, ""},
        Case{"StaticPod", "0::/kubepods/burstable/pod" + kTask + "/" + kId + "\n", kId, "", kTask,
             ""},
        Case{"MixedDrivers",
             "11:memory:/system.slice/containerd.service/kubepods-besteffort-pod" + kSliceUid +
                 ".slice:cri-containerd:" + kId + "\n",
             kId, "containerd", kUid, ""},
        Case{"KindNodeInDocker",
             "0::/docker/" + kOther + "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" +
                 kSliceUid + ".slice/cri-containerd-" + kId + ".scope\n",
             kId, "containerd", kUid, ""},
        Case{"Podman", "0::/machine.slice/libpod-" + kId + ".scope/container\n", kId, "podman", "",
             ""},
        Case{"PodmanRootless",
             "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId +
                 ".scope/container\n",
             kId, "podman", "", ""},
        Case{"PodmanOfAUnit", "0::/system.slice/web.service/libpod-payload-" + kId + "\n", kId,
             "podman", "", "web.service"},
        Case{"PodmanV1", "3:cpu:/libpod_parent/libpod-" + kId + "\n", kId, "podman", "", ""},
        Case{"Nspawn", "0::/machine.slice/machine-web\\x2d1.scope\n", "web-1", "systemd-nspawn", "",
             ""},
        Case{"NspawnService",
             "0::/machine.slice/systemd-nspawn@web.service/payload/system.slice/nginx.service\n",
             "web", "systemd-nspawn", "", "nginx.service"},
        Case{"Lxc", "0::/lxc.payload.db/system.slice/postgresql.service\n", "db", "lxc", "",
             "postgresql.service"},
        Case{"LxcV1", "9:freezer:/lxc/db\n", "db", "lxc", "", ""},
        Case{"EcsOnMachines", "9:pids:/ecs/" + kTask + "/" + kId + "\n", kId, "docker", "", ""},
        Case{"EcsFargate", "9:pids:/ecs/" + kTask + "/" + kTask + "-1234567890\n",
             kTask + "-1234567890", "", "", ""},
        Case{"SystemService", "0::/system.slice/nginx.service\n", "", "", "", "nginx.service"},
        Case{"TemplateService", "0::/system.slice/system-getty.slice/getty@tty1.service\n", "", "",
             "", "getty@tty1.service"},
        Case{"UserService",
             "0::/user.slice/user-1000.slice/user@1000.service/app.slice/syncthing.service\n", "",
             "", "", "syncthing.service"},
        Case{"UserSession", "0::/user.slice/user-1000.slice/session-3.scope\n", "", "", "",
             "session-3.scope"},
        Case{"Hybrid",
             "5:cpuset:/\n1:name=systemd:/system.slice/cron.service\n0::/system.slice/"
             "cron.service\n",
             "", "", "", "cron.service"},
        Case{"SeenFromAnotherNamespace", "0::/../cri-containerd-" + kId + ".scope\n", kId,
             "containerd", "", ""},
        Case{"MonitorsAreNotInTheirContainers",
             "0::/machine.slice/libpod-conmon-" + kId + ".scope\n", "", "", "",
             "libpod-conmon-" + kId + ".scope"},
        Case{"VirtualMachinesAreNoContainers",
             "0::/machine.slice/machine-qemu\\x2d1\\x2dvm.scope\n", "", "", "",
             "machine-qemu\\x2d1\\x2dvm.scope"},
        Case{"UppercaseIsNoId", "0::/docker/" + std::string(64, 'A') + "\n", "", "", "", ""}),
    [](const auto& param_info) { return std::string(param_info.param.what); });

TEST(CgroupIdentity, HiddenCgroupsAreSaidToBe) {
  EXPECT_TRUE(parse_cgroup("0::/\n").is_hidden);
  EXPECT_TRUE(parse_cgroup("0::/..\n").is_hidden);
  EXPECT_TRUE(parse_cgroup("").is_hidden);
  EXPECT_TRUE(parse_cgroup("3:cpu:/\n0::/\n").is_hidden);
}

TEST(CgroupIdentity, TasksOfEcsAreKnown) {
  EXPECT_EQ(parse_cgroup("9:pids:/ecs/" + kTask + "/" + kId).ecs_task, kTask);
  EXPECT_EQ(parse_cgroup("0::/ecstasks.slice/ecstasks-" + kTask + ".slice/docker-" + kId + ".scope")
                .ecs_task,
            kTask);
}

TEST(CgroupIdentity, OddTextsAreRead) {
  const std::string deep = [] {
    std::string path = "0::";
    for (int i = 0; i < 10'000; ++i) path += "/x";
    return path;
  }();
  for (const std::string& text :
       {std::string(":"), std::string("::"), std::string("0:"), std::string(":::::"), deep,
        std::string("0::/pod\n"), std::string("0::/.slice/.scope/.service"),
        std::string("0::/kubepods-pod.slice"), std::string("0::/machine.slice/machine-.scope"),
        std::string("0::/lxc.payload."), std::string("0::/lxc/") + std::string(4000, 'n')}) {
    EXPECT_TRUE(parse_cgroup(text).container_id.empty()) << text.substr(0, 40);
  }
}

std::string mount(const std::string& root, const std::string& point,
                  const std::string& type = "ext4") {
  return fmt::format("36 35 98:0 {} {} rw,noatime master:1 - {} /dev/root rw\n", root, point, type);
}

TEST(ContainerMounts, DockersFilesTellTheContainer) {
  const CgroupIdentity got = parse_container_mounts(
      mount("/", "/", "overlay") +
      mount("/var/lib/docker/containers/" + kId + "/hostname", "/etc/hostname"));
  EXPECT_EQ(got.container_id, kId);
  EXPECT_EQ(got.runtime, "docker");
}

TEST(ContainerMounts, PodmansFilesTellTheContainer) {
  const CgroupIdentity got = parse_container_mounts(
      mount("/containers/overlay-containers/" + kId + "/userdata/hosts", "/etc/hosts", "tmpfs"));
  EXPECT_EQ(got.container_id, kId);
  EXPECT_EQ(got.runtime, "podman");
}

TEST(ContainerMounts, TheKubeletsFilesTellPodAndContainer) {
  const CgroupIdentity got = parse_container_mounts(
      mount("/var/lib/kubelet/pods/" + kUid + "/etc-hosts", "/etc/hosts") +
      mount("/var/lib/kubelet/pods/" + kUid + "/containers/web/1a2b3c4d", "/dev/termination-log") +
      // Of the sandbox, not of this container.
      mount("/var/lib/containerd/io.containerd.grpc.v1.cri/sandboxes/" + kId + "/hostname",
            "/etc/hostname") +
      mount("/containers/storage/overlay-containers/" + kId + "/userdata/resolv.conf",
            "/etc/resolv.conf"));
  EXPECT_EQ(got.pod_uid, kUid);
  EXPECT_EQ(got.container_name, "web");
  EXPECT_EQ(got.container_id, "");
}

TEST(ContainerMounts, MountedCgroupsTellMore) {
  const CgroupIdentity got = parse_container_mounts(
      mount("/system.slice/docker-" + kId + ".scope", "/sys/fs/cgroup", "cgroup2") +
      mount("/var/lib/docker/containers/" + kOther + "/hostname", "/etc/hostname"));
  EXPECT_EQ(got.container_id, kId);
}

TEST(ContainerMounts, LayersOfImagesAreNoContainers) {
  EXPECT_FALSE(parse_container_mounts("1 2 0:5 / / rw - overlay overlay rw,upperdir=/var/lib/"
                                      "docker/overlay2/" +
                                      kId + "/diff\n" + mount("/docker/" + kId, "/data"))
                   .is_in_container());
  EXPECT_FALSE(parse_container_mounts("\n - \n1 2 3\n").is_in_container());
}

TEST(Units, OnlyServicesNameServices) {
  EXPECT_EQ(service_of_unit("nginx.service"), "nginx");
  EXPECT_EQ(service_of_unit("postgresql@15-main.service"), "postgresql");
  EXPECT_EQ(service_of_unit("user@1000.service"), "");
  EXPECT_EQ(service_of_unit("run-u12.service"), "");
  EXPECT_EQ(service_of_unit("session-3.scope"), "");
  EXPECT_EQ(service_of_unit(""), "");
}

}  // namespace
}  // namespace vesta::agent
