#include "agent/metadata/kubernetes.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "agent/metadata/process_metadata.h"
#include "agent/process/test_proc.h"
#include "base/file.h"
#include "base/mutex.h"
#include "base/test_requirements.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kUid = "8dbc3e4b-6d3c-4c58-a2a8-0d5e4b1f0f5d";

std::string pod_list(const std::string& id = kId, const std::string& app = "shop") {
  return fmt::format(
      R"({{"kind":"PodList","items":[{{"metadata":{{"name":"shop-1","namespace":"prod","uid":"{}",)"
      R"("labels":{{"app":"{}"}}}},"spec":{{"nodeName":"n1"}},"status":{{"containerStatuses":[)"
      R"({{"name":"web","containerID":"containerd://{}"}}]}}}}]}})",
      kUid, app, id);
}

bool eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    ::usleep(10'000);
  }
  return false;
}

// A server that answers each connection with what `answer` says to the request, over TLS if there
// is a certificate.
class ApiServer {
 public:
  using Answer = std::function<std::string(const std::string& request)>;
  explicit ApiServer(Answer answer, const std::string& certificate = "",
                     const std::string& key = "")
      : answer_(std::move(answer)) {
    if (!certificate.empty()) {
      tls_.reset(SSL_CTX_new(TLS_server_method()));
      SSL_CTX_use_certificate_chain_file(tls_.get(), certificate.c_str());
      SSL_CTX_use_PrivateKey_file(tls_.get(), key.c_str(), SSL_FILETYPE_PEM);
    }
    listener_ = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
  }

  std::string url() const {
    return fmt::format("{}://localhost:{}", tls_ ? "https" : "http", port_);
  }
  std::string requests() {
    const MutexLock lock(mutex_);
    return requests_;
  }
  static std::string ok(const std::string& body) {
    return fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
                       body.size(), body);
  }

 private:
  void serve(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      pollfd waiting{listener_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, 50) <= 0) continue;
      const UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      timeval limit{2, 0};
      ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
      const std::unique_ptr<SSL, decltype(&SSL_free)> session(tls_ ? SSL_new(tls_.get()) : nullptr,
                                                              &SSL_free);
      if (session) {
        SSL_set_fd(session.get(), client.get());
        if (SSL_accept(session.get()) != 1) continue;
      }
      std::string request;
      char bytes[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = session ? SSL_read(session.get(), bytes, sizeof(bytes))
                                    : ::recv(client.get(), bytes, sizeof(bytes), 0);
        if (got <= 0) break;
        request.append(bytes, static_cast<size_t>(got));
      }
      {
        const MutexLock lock(mutex_);
        requests_ += request;
      }
      const std::string reply = answer_(request);
      if (session) {
        SSL_write(session.get(), reply.data(), static_cast<int>(reply.size()));
        SSL_shutdown(session.get());
      } else {
        ::send(client.get(), reply.data(), reply.size(), MSG_NOSIGNAL);
      }
    }
  }

  Answer answer_;
  struct FreeContext {
    void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  };
  std::unique_ptr<SSL_CTX, FreeContext> tls_;
  UniqueFd listener_;
  uint16_t port_ = 0;
  Mutex mutex_;
  std::string requests_ GUARDED_BY(mutex_);
  std::jthread thread_;
};

class KubernetesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // A proxy of the machine's must not come between.
    ::setenv("no_proxy", "localhost,127.0.0.1", 1);
    config_.token_file = folder_.path() + "/token";
    config_.ca_file = folder_.path() + "/ca.pem";
    config_.node = "n1";
    options_.environment = [](const char* /*name*/) { return std::string(); };
    options_.interval = milliseconds(50);
    options_.min_interval = milliseconds(1);
    options_.timeout = milliseconds(5000);
  }

  TemporaryFolder folder_;
  KubernetesConfig config_;
  KubernetesOptions options_;
};

TEST_F(KubernetesTest, AsksTheKubeletForItsPods) {
  ApiServer server([](const std::string&) { return ApiServer::ok(pod_list()); });
  config_.kubelet = server.url() + "/";
  write_text(config_.token_file, "secret\n");
  const Kubernetes kubernetes(config_, options_);
  ASSERT_TRUE(eventually([&] { return kubernetes.pods()->container(kId) != nullptr; }))
      << kubernetes.stats().last_error;
  EXPECT_THAT(server.requests(), HasSubstr("GET /pods HTTP"));
  EXPECT_THAT(server.requests(), Not(HasSubstr("secret")));  // the line is not encrypted
  const KubernetesStats stats = kubernetes.stats();
  EXPECT_TRUE(stats.is_enabled);
  EXPECT_EQ(stats.pods, 1U);
  EXPECT_EQ(stats.containers, 1U);
  EXPECT_EQ(stats.failures, 0U);
}

TEST_F(KubernetesTest, AsksTheApiServerWithTheTokenOfTheHour) {
  const std::string folder = folder_.path();
  const std::string command = fmt::format(
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
      "-addext subjectAltName=DNS:localhost -keyout {0}/key.pem -out {0}/ca.pem 2>/dev/null",
      folder);
  VESTA_REQUIRE_OR_SKIP(std::system(command.c_str()) == 0, "openssl is not installed");
  ApiServer server(
      [](const std::string& request) {
        return request.find("Bearer first") != std::string::npos
                   ? ApiServer::ok(pod_list(kId, "one"))
               : request.find("Bearer second") != std::string::npos
                   ? ApiServer::ok(pod_list(kId, "two"))
                   : "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n";
      },
      folder + "/ca.pem", folder + "/key.pem");
  config_.api_server = server.url();
  config_.node = "n 1";
  write_text(config_.token_file, "first\n");
  const Kubernetes kubernetes(config_, options_);
  const auto app = [&] {
    const auto pods = kubernetes.pods();
    const PodContainer* const container = pods->container(kId);
    return container == nullptr ? "" : container->pod->service_name;
  };
  ASSERT_TRUE(eventually([&] { return app() == "one"; })) << kubernetes.stats().last_error;
  EXPECT_THAT(server.requests(),
              HasSubstr("GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn%201&resourceVersion=0 "));
  write_text(config_.token_file, "second\n");
  EXPECT_TRUE(eventually([&] { return app() == "two"; }));
  write_text(config_.token_file, "third\n");
  ASSERT_TRUE(eventually([&] { return kubernetes.stats().failures > 0; }));
  EXPECT_THAT(kubernetes.stats().last_error, HasSubstr("to list pods"));
  EXPECT_EQ(app(), "two");  // what was known stays
}

TEST_F(KubernetesTest, AnUntrustedServerIsNotTold) {
  const std::string folder = folder_.path();
  const std::string command = fmt::format(
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
      "-addext subjectAltName=DNS:localhost -keyout {0}/key.pem -out {0}/other.pem 2>/dev/null",
      folder);
  VESTA_REQUIRE_OR_SKIP(std::system(command.c_str()) == 0, "openssl is not installed");
  ApiServer server([](const std::string&) { return ApiServer::ok(pod_list()); },
                   folder + "/other.pem", folder + "/key.pem");
  config_.api_server = server.url();
  write_text(config_.token_file, "secret\n");
  const Kubernetes kubernetes(config_, options_);
  ASSERT_TRUE(eventually([&] { return kubernetes.stats().failures > 0; }));
  EXPECT_EQ(server.requests(), "");
}

TEST_F(KubernetesTest, BadAnswersAreCountedAndShown) {
  std::atomic<int> turn = 0;
  options_.max_bytes = 100'000;
  ApiServer server([&](const std::string&) -> std::string {
    switch (turn++ % 6) {
      case 0:
        return "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n";
      case 1:
        return ApiServer::ok("<html>");
      case 2:
        return ApiServer::ok("{\"items\":[" + std::string(200'000, ' ') + "]}");
      case 3:
        return "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"items\":[";
      case 4:
        return "garbage\r\n\r\n";
      default:
        return "HTTP/1.1 302 Found\r\nLocation: http://localhost:1/\r\nContent-Length: 0\r\n\r\n";
    }
  });
  config_.kubelet = server.url();
  const Kubernetes kubernetes(config_, options_);
  ASSERT_TRUE(eventually([&] { return kubernetes.stats().failures >= 6; }));
  EXPECT_THAT(kubernetes.stats().last_error, HasSubstr("Kubernetes: "));
  EXPECT_EQ(kubernetes.pods()->version, 0U);
}

TEST_F(KubernetesTest, AServerThatNeverAnswersDoesNotKeepUsFromEnding) {
  std::atomic<bool> is_asked = false;
  std::atomic<bool> is_over = false;
  ApiServer server([&](const std::string&) {
    is_asked = true;
    eventually([&] { return is_over.load(); });
    return std::string();
  });
  config_.kubelet = server.url();
  options_.timeout = milliseconds(60'000);
  const auto start = std::chrono::steady_clock::now();
  {
    const Kubernetes kubernetes(config_, options_);
    ASSERT_TRUE(eventually([&] { return is_asked.load(); }));
    EXPECT_EQ(kubernetes.pods()->version, 0U);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, milliseconds(10'000));
  is_over = true;
}

TEST_F(KubernetesTest, IsOffOutsideOfAPod) {
  const Kubernetes outside(config_, options_);
  EXPECT_FALSE(outside.is_enabled());
  EXPECT_THAT(outside.stats().last_error, HasSubstr("not in a pod"));
  config_.enabled = false;
  config_.kubelet = "http://localhost:1";
  EXPECT_FALSE(Kubernetes(config_, options_).is_enabled());
}

TEST_F(KubernetesTest, ThePodsEnvironmentSaysWhomToAsk) {
  options_.environment = [](const char* name) -> std::string {
    if (name == std::string("KUBERNETES_SERVICE_HOST")) return "::1";
    if (name == std::string("KUBERNETES_SERVICE_PORT")) return "1";
    if (name == std::string("NODE_NAME")) return "node-7";
    return "";
  };
  config_.node = "";
  const Kubernetes kubernetes(config_, options_);
  EXPECT_EQ(kubernetes.stats().source,
            "https://[::1]:1/api/v1/pods?fieldSelector=spec.nodeName%3Dnode-7&resourceVersion=0");
  EXPECT_EQ(node_name(config_, options_), "node-7");
}

TEST_F(KubernetesTest, ANewContainerHasItsLabelsWithALaterWindow) {
  std::atomic<bool> is_listed = false;
  ApiServer server([&](const std::string&) {
    return ApiServer::ok(is_listed ? pod_list() : R"({"items":[]})");
  });
  config_.kubelet = server.url();
  options_.interval = milliseconds(3'600'000);  // only questions lead to an answer
  Kubernetes kubernetes(config_, options_);
  ASSERT_TRUE(eventually([&] { return kubernetes.pods()->version == 1; }));

  TestProc proc;
  proc.add(7, 1, "shop", "");
  write_text(proc.root() + "/7/cgroup", "0::/kubepods/burstable/pod" + kUid + "/" + kId + "\n");
  std::filesystem::create_symlink("/app/server", proc.root() + "/7/exe");
  ProcessMetadataOptions metadata_options;
  metadata_options.proc_root = proc.root();
  ProcessMetadata metadata(kubernetes, metadata_options);
  ProcessIdentity identity;
  identity.pid = 7;
  identity.name = "server";
  identity.executable = "/app/server";
  is_listed = true;
  auto got = metadata.of(identity);
  EXPECT_EQ(find_attribute(got->attributes, "service.name"), "server");
  EXPECT_EQ(find_attribute(got->attributes, "k8s.pod.uid"), kUid);
  ASSERT_TRUE(eventually([&] { return kubernetes.pods()->version == 2; }));
  got = metadata.of(identity);
  EXPECT_EQ(find_attribute(got->attributes, "service.name"), "shop");
  EXPECT_EQ(find_attribute(got->attributes, "service.namespace"), "prod");
  EXPECT_EQ(find_attribute(got->attributes, "k8s.pod.name"), "shop-1");
  EXPECT_EQ(find_attribute(got->attributes, "k8s.container.name"), "web");
  EXPECT_EQ(find_attribute(got->attributes, "container.runtime"), "containerd");
}

TEST_F(KubernetesTest, QuestionsAreAnsweredNotTooOften) {
  std::atomic<int> asked = 0;
  ApiServer server([&](const std::string&) {
    ++asked;
    return ApiServer::ok(R"({"items":[]})");
  });
  config_.kubelet = server.url();
  options_.interval = milliseconds(3'600'000);
  options_.min_interval = milliseconds(200);
  Kubernetes kubernetes(config_, options_);
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(eventually([&] {
    kubernetes.look_again();
    return asked >= 4;
  }));
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(600));
}

}  // namespace
}  // namespace vesta::agent
