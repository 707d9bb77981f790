#include "agent/metadata/pod_index.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/clock.h"

namespace vesta::agent {
namespace {

std::string list_of(const std::string& pods) {
  return R"({"kind":"PodList","apiVersion":"v1","metadata":{},"items":[)" + pods + "]}";
}

std::string pod(const std::string& name, const std::string& metadata, const std::string& status) {
  return fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"prod","uid":"uid-{0}"{1}}},)"
      R"("spec":{{"nodeName":"node-1","containers":[{{"name":"web","image":"x"}}]}},)"
      R"("status":{{"phase":"Running","containerStatuses":[{2}]}}}})",
      name, metadata, status);
}

std::string owner(const std::string& kind, const std::string& name) {
  return fmt::format(R"(,"ownerReferences":[{{"kind":"Other","name":"x"}},)"
                     R"({{"apiVersion":"apps/v1","kind":"{}","name":"{}","controller":true}}])",
                     kind, name);
}

const std::string kRunning = R"({"name":"web","containerID":"containerd://c0ffee"},)"
                             R"({"name":"waiting","containerID":""})";

Attributes attributes_of(const std::string& metadata) {
  const auto index = PodIndex::parse(list_of(pod("p", metadata, kRunning)));
  return index && index->pod("uid-p") ? index->pod("uid-p")->attributes : Attributes();
}

TEST(PodIndex, FindsThePodOfAContainer) {
  const auto index = PodIndex::parse(list_of(pod(
      "shop-7d4b-x",
      R"(,"labels":{"app":"shop","pod-template-hash":"7d4b"})" + owner("ReplicaSet", "shop-7d4b"),
      kRunning)));
  ASSERT_TRUE(index) << index.error().message;
  const PodContainer* container = index->container("c0ffee");
  ASSERT_NE(container, nullptr);
  EXPECT_EQ(container->name, "web");
  EXPECT_EQ(container->runtime, "containerd");
  EXPECT_EQ(container->pod->service_name, "shop");
  EXPECT_EQ(container->pod->attributes, (Attributes{{"k8s.deployment.name", "shop"},
                                                    {"k8s.namespace.name", "prod"},
                                                    {"k8s.node.name", "node-1"},
                                                    {"k8s.pod.label.app", "shop"},
                                                    {"k8s.pod.label.pod-template-hash", "7d4b"},
                                                    {"k8s.pod.name", "shop-7d4b-x"},
                                                    {"k8s.pod.uid", "uid-shop-7d4b-x"},
                                                    {"k8s.replicaset.name", "shop-7d4b"}}));
  EXPECT_EQ(index->container("uid-shop-7d4b-x", "web"), container);
  EXPECT_EQ(index->container("beef"), nullptr);
  EXPECT_EQ(index->container("uid-shop-7d4b-x", "waiting"), nullptr);
  EXPECT_EQ(index->pod("none"), nullptr);
  EXPECT_EQ(index->pod_count(), 1U);
  EXPECT_EQ(index->container_count(), 1U);
}

TEST(PodIndex, OwnersAreNamed) {
  EXPECT_EQ(find_attribute(attributes_of(owner("DaemonSet", "d")), "k8s.daemonset.name"), "d");
  EXPECT_EQ(find_attribute(attributes_of(owner("StatefulSet", "s")), "k8s.statefulset.name"), "s");
  EXPECT_EQ(find_attribute(attributes_of(owner("Job", "nightly-28123456")), "k8s.job.name"),
            "nightly-28123456");
  EXPECT_EQ(find_attribute(attributes_of(owner("Job", "nightly-28123456")), "k8s.cronjob.name"),
            "nightly");
  EXPECT_EQ(find_attribute(attributes_of(owner("Job", "import-1")), "k8s.cronjob.name"), "");
}

TEST(PodIndex, AReplicaSetWithoutTheHashOfItsPodsHasNoDeployment) {
  const Attributes got =
      attributes_of(R"(,"labels":{"pod-template-hash":"zzz"})" + owner("ReplicaSet", "web-abc"));
  EXPECT_EQ(find_attribute(got, "k8s.deployment.name"), "");
  EXPECT_EQ(find_attribute(got, "k8s.replicaset.name"), "web-abc");
}

TEST(PodIndex, StaticPodsAreFoundByTheirHash) {
  const auto index = PodIndex::parse(
      list_of(pod("etcd", R"(,"annotations":{"kubernetes.io/config.hash":"abcd"})", kRunning)));
  ASSERT_TRUE(index);
  EXPECT_EQ(index->pod("abcd"), index->pod("uid-etcd"));
}

TEST(PodIndex, RecommendedLabelsWin) {
  const auto index = PodIndex::parse(list_of(pod(
      "p",
      R"(,"labels":{"app":"a","app.kubernetes.io/name":"n","app.kubernetes.io/version":"1.2"})" +
          owner("DaemonSet", "d"),
      kRunning)));
  ASSERT_TRUE(index);
  EXPECT_EQ(index->pod("uid-p")->service_name, "n");
  EXPECT_EQ(index->pod("uid-p")->service_version, "1.2");
}

TEST(PodIndex, WhatIsNoPodListIsAnError) {
  for (const char* text : {"", "[]", "{}", "null", "{\"items\":3}", "{\"items\":[3]}",
                           "{\"items\":[{\"metadata\":{\"name\":}}]}", "<html>", "{\"items\":["}) {
    EXPECT_FALSE(PodIndex::parse(text)) << text;
  }
  EXPECT_TRUE(PodIndex::parse(R"({"items":null})"));
  EXPECT_TRUE(PodIndex::parse(R"({"items":[]})"));
}

TEST(PodIndex, OddPodsAreLeftOut) {
  const auto index = PodIndex::parse(list_of(
      R"({},{"metadata":{"name":"x"}},{"metadata":{"name":1,"uid":[]},"status":{"phase":{}}},)" +
      pod("good", "", kRunning)));
  ASSERT_TRUE(index) << index.error().message;
  EXPECT_EQ(index->pod_count(), 1U);
}

TEST(PodIndex, ThereAreLimits) {
  std::string pods;
  for (int i = 0; i < 5000; ++i) {
    pods += (i > 0 ? "," : "") + pod("p" + std::to_string(i), "",
                                     fmt::format(R"({{"name":"w","containerID":"a://{}"}})", i));
  }
  const uint64_t start_ns = monotonic_ns();
  const auto index = PodIndex::parse(list_of(pods));
  ASSERT_TRUE(index);
  EXPECT_EQ(index->pod_count(), 4096U);
  EXPECT_EQ(index->left_out(), 904U);
  EXPECT_LT(monotonic_ns() - start_ns, 5'000'000'000U);
}

}  // namespace
}  // namespace vesta::agent
