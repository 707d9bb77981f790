#include "agent/metadata/container_names.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kDocker = R"({"ID":"x","Name":"/shop_web_1","Config":{"Image":"nginx:1.25",)"
                            R"("Labels":{"com.docker.compose.service":"web","a":"b"}}})";

// Answers HTTP requests on a socket of a file system with one text, as Docker does.
class SocketServer {
 public:
  SocketServer(const std::string& path, std::string body)
      : body_(std::move(body)), listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(listener_.get(), 8), 0);
    thread_ = std::jthread([this] { serve(); });
  }
  ~SocketServer() { ::shutdown(listener_.get(), SHUT_RDWR); }
  int requests() const { return requests_; }
  std::string last() const { return last_; }

 private:
  void serve() {
    while (true) {
      const UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client.valid()) return;
      char part[2048];
      const ssize_t got = ::recv(client.get(), part, sizeof(part), 0);
      last_.assign(part, static_cast<size_t>(std::max<ssize_t>(got, 0)));
      const std::string answer =
          fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                      body_.size(), body_);
      (void)!::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      ++requests_;
    }
  }

  std::string body_;
  UniqueFd listener_;
  std::string last_;
  std::atomic<int> requests_{0};
  std::jthread thread_;
};

class ContainerNamesTest : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.path(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  ContainerNames names(const std::string& socket = "") const {
    ContainerNamesOptions options;
    options.roots = {folder_.path("none"), folder_.path("")};
    options.docker_socket = socket;
    return ContainerNames(options);
  }
  TemporaryFolder folder_;
};

TEST_F(ContainerNamesTest, DockerKeepsAFileForEachContainer) {
  write("var/lib/docker/containers/" + kId + "/config.v2.json", kDocker);
  ContainerNames all = names();
  const ContainerState& state = all.of("docker", kId, kSecond);
  EXPECT_EQ(state.name, "shop_web_1");
  EXPECT_EQ(state.image, "nginx");
  EXPECT_EQ(state.image_tag, "1.25");
  EXPECT_EQ(state.service, "web");
}

TEST_F(ContainerNamesTest, ContainerdKeepsTheConfigurationByNamespace) {
  write("run/containerd/io.containerd.runtime.v2.task/k8s.io/" + kId + "/config.json",
        R"({"annotations":{"io.kubernetes.cri.container-name":"cart",)"
        R"("io.kubernetes.cri.image-name":"registry:5000/shop/cart@sha256:00"}})");
  ContainerNames all = names();
  const ContainerState& state = all.of("containerd", kId, kSecond);
  EXPECT_EQ(state.name, "cart");
  EXPECT_EQ(state.image, "registry:5000/shop/cart");
  EXPECT_EQ(state.image_tag, "");
}

TEST_F(ContainerNamesTest, CrioAndPodmanKeepThemInTheirStorage) {
  const std::string folder = "run/containers/storage/overlay-containers/";
  write(folder + kId + "/userdata/config.json",
        R"({"annotations":{"io.kubernetes.container.name":"cart"}})");
  ContainerNames first = names();
  EXPECT_EQ(first.of("cri-o", kId, kSecond).name, "cart");
  const std::string other(64, 'a');
  write("var/lib/containers/storage/overlay-containers/containers.json",
        R"([{"id":"x"},{"id":")" + other + R"(","names":["web"],)" +
            R"("metadata":"{\"image-name\":\"docker.io/library/nginx:latest\"}"}])");
  ContainerNames second = names();
  EXPECT_EQ(second.of("podman", other, kSecond).name, "web");
  EXPECT_EQ(second.of("podman", other, kSecond).image, "docker.io/library/nginx");
}

TEST_F(ContainerNamesTest, DockersSocketIsAskedWhenTheFilesCannotBeRead) {
  const SocketServer server(folder_.path("docker.sock"), kDocker);
  ContainerNames all = names("/docker.sock");
  EXPECT_EQ(all.of("docker", kId, kSecond).name, "shop_web_1");
  EXPECT_EQ(all.of("docker", kId, 2 * kSecond).name, "shop_web_1");
  EXPECT_EQ(server.requests(), 1) << "then it is known";
  EXPECT_TRUE(server.last().starts_with("GET /containers/" + kId + "/json HTTP/1.1\r\n"));
  EXPECT_TRUE(all.of("containerd", std::string(64, 'b'), kSecond).empty());
  EXPECT_EQ(server.requests(), 1) << "only Docker's own";
}

TEST_F(ContainerNamesTest, ASocketThatAnswersNonsenseIsLeftAloneForAMinute) {
  const SocketServer server(folder_.path("docker.sock"), "[[[[");
  ContainerNames all = names("/docker.sock");
  for (uint64_t second = 1; second < 60; ++second)
    EXPECT_TRUE(all.of("docker", kId, second * kSecond).empty());
  EXPECT_EQ(server.requests(), 1);
  EXPECT_TRUE(all.of("docker", kId, 62 * kSecond).empty());
  EXPECT_EQ(server.requests(), 2);
}

TEST_F(ContainerNamesTest, WhatIsNotThereYetIsAskedForAgain) {
  ContainerNames all = names();
  EXPECT_TRUE(all.of("docker", kId, kSecond).empty());
  write("var/lib/docker/containers/" + kId + "/config.v2.json", kDocker);
  EXPECT_TRUE(all.of("docker", kId, 2 * kSecond).empty());
  EXPECT_EQ(all.of("docker", kId, 5 * kSecond).name, "shop_web_1");
}

TEST_F(ContainerNamesTest, OnlyIdsBecomePaths) {
  write("var/lib/docker/containers/x/config.v2.json", kDocker);
  ContainerNames all = names();
  EXPECT_TRUE(all.of("docker", "x", kSecond).empty());
  EXPECT_TRUE(all.of("docker", "../../" + kId, kSecond).empty());
  EXPECT_TRUE(all.of("lxc", "", kSecond).empty());
}

TEST_F(ContainerNamesTest, TheNumberOfContainersIsBounded) {
  ContainerNamesOptions options;
  options.roots = {folder_.path("")};
  options.docker_socket = "";
  options.max_containers = 3;
  ContainerNames all(options);
  for (int i = 0; i < 20; ++i) {
    const std::string id = fmt::format("{:064x}", i);
    write("var/lib/docker/containers/" + id + "/config.v2.json", kDocker);
    EXPECT_EQ(all.of("docker", id, kSecond).name, "shop_web_1");
  }
}

TEST(ContainerState, TextsMayBeAnything) {
  for (const char* json :
       {"", "{", "[]", "null", "7", R"({"Name":7,"Config":[]})", R"({"Config":{"Labels":null}})",
        R"({"annotations":"x"})", R"([{"id":1,"names":"x","metadata":7}])", "\xff\xfe{}"}) {
    EXPECT_TRUE(parse_docker_container(json).empty()) << json;
    EXPECT_TRUE(parse_oci_config(json).empty()) << json;
    EXPECT_TRUE(parse_stored_containers(json, "x").empty()) << json;
  }
  const std::string long_name(10'000, 'x');
  EXPECT_EQ(parse_docker_container(R"({"Name":")" + long_name + R"("})").name, "");
  EXPECT_EQ(parse_docker_container(R"({"Config":{"Image":"sha256:00"}})").image, "");
}

}  // namespace
}  // namespace vesta::agent
