#include "cli/record/page_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "net/http_get.h"

namespace vesta::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class RunningServer {
 public:
  RunningServer() : server_(*PageServer::open("<p>flame</p>")) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
      server_.serve([&] { return stop.stop_requested(); });
    });
  }
  std::string url() const { return server_.url(); }
  uint16_t port() const {
    const std::string url = server_.url();
    return static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }
  std::string path() const { return server_.url().substr(server_.url().rfind('/')); }

  std::string ask(const std::string& request) const {
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    (void)!::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
    ::shutdown(socket.get(), SHUT_WR);
    std::string answer;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::recv(socket.get(), buffer.data(), buffer.size(), 0)) > 0;)
      answer.append(buffer.data(), static_cast<size_t>(got));
    return answer;
  }

 private:
  PageServer server_;
  std::jthread thread_;
};

TEST(PageServer, ServesThePageAtItsAddress) {
  const RunningServer server;
  const auto page = http_get(server.url(), 1 << 20);
  ASSERT_TRUE(page.ok()) << page.error().message;
  EXPECT_EQ(*page, "<p>flame</p>");
}

TEST(PageServer, TheAddressCannotBeGuessed) {
  const RunningServer a;
  const RunningServer b;
  EXPECT_NE(a.path(), b.path());
  EXPECT_GE(a.path().size(), 33U);
  const std::string host = "\r\nHost: 127.0.0.1:" + std::to_string(a.port()) + "\r\n\r\n";
  EXPECT_THAT(a.ask("GET / HTTP/1.1" + host), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(a.ask("GET " + a.path() + " HTTP/1.1" + host), StartsWith("HTTP/1.1 200"));
}

TEST(PageServer, AnotherSitesNameIsNotServed) {
  const RunningServer server;
  EXPECT_THAT(server.ask("GET " + server.path() + " HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
              StartsWith("HTTP/1.1 404"));
}

TEST(PageServer, OtherMethodsAndNonsenseAreRefused) {
  const RunningServer server;
  EXPECT_THAT(server.ask("POST / HTTP/1.1\r\n\r\n"), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(server.ask(std::string(100'000, 'x')), Not(HasSubstr("flame")));
  EXPECT_THAT(server.ask(""), Not(HasSubstr("flame")));
  // And it still serves.
  EXPECT_TRUE(http_get(server.url(), 1 << 20).ok());
}

}  // namespace
}  // namespace vesta::cli
