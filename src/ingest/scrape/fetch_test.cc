#include "ingest/scrape/fetch.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "base/file.h"

namespace vesta {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ResolveRedirect, StaysAtTheAddress) {
  const auto next = [](std::string_view location) {
    return resolve_redirect("http://10.0.0.7:6060/debug/pprof/heap?gc=1", location)
        .value_or("elsewhere");
  };
  EXPECT_EQ(next("/other"), "http://10.0.0.7:6060/other");
  EXPECT_EQ(next("allocs?x=http://a"), "http://10.0.0.7:6060/debug/pprof/allocs?x=http://a");
  EXPECT_EQ(next("?gc=0"), "http://10.0.0.7:6060/debug/pprof/heap?gc=0");
  EXPECT_EQ(next("http://10.0.0.7:6060/x"), "http://10.0.0.7:6060/x");
  EXPECT_EQ(next("HTTP://10.0.0.7:6060/x"), "HTTP://10.0.0.7:6060/x");
  for (const char* location :
       {"", "http://evil.example/", "//evil.example/", "https://10.0.0.7:6060/", "http://10.0.0.7/",
        "http://10.0.0.7:6061/", "http://10.0.0.7:6060@evil.example/", "http://10.0.0.7:60600/",
        "http:/10.0.0.7:6060/", "file:///etc/passwd", "/\\evil.example", "\\\\evil.example", "/a b",
        "/a\r\nb", "javascript:1", "\xc3\xa9"})
    EXPECT_EQ(next(location), "elsewhere") << location;
}

// Answers one connection after the other with the texts.
class Target {
 public:
  explicit Target(std::vector<std::string> answers)
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_.get(), 8), 0);
    ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answers = std::move(answers)] {
      for (const std::string& answer : answers) {
        const UniqueFd client(::accept(socket_.get(), nullptr, nullptr));
        if (!client.valid()) return;
        std::array<char, 4096> block{};
        if (::recv(client.get(), block.data(), block.size(), 0) <= 0) continue;
        ++asked_;
        (void)::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        ::shutdown(client.get(), SHUT_WR);
        while (::recv(client.get(), block.data(), block.size(), 0) > 0) continue;
      }
    });
  }
  ~Target() {
    ::shutdown(socket_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string url(const std::string& path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  int asked() const { return asked_; }

 private:
  UniqueFd socket_;
  uint16_t port_ = 0;
  std::atomic<int> asked_ = 0;
  std::thread thread_;
};

std::string answer(const std::string& line, const std::string& headers, const std::string& body) {
  return "HTTP/1.1 " + line + "\r\nConnection: close\r\n" + headers + "\r\n" + body;
}

Result<std::string> fetch(const std::string& url) {
  HttpCall call;
  call.url = url;
  call.timeout = std::chrono::seconds(20);
  return fetch_profile(std::move(call));
}

TEST(FetchProfile, FollowsRedirectsWithinTheTarget) {
  const Target target({answer("301 x", "Location: /there\r\n", ""), answer("200 OK", "", "body")});
  EXPECT_EQ(fetch(target.url("/")).value(), "body");
}

TEST(FetchProfile, DoesNotLeaveTheTarget) {
  const Target other({answer("200 OK", "", "secret")});
  const Target target({answer("302 x", "Location: " + other.url("/") + "\r\n", "")});
  const auto got = fetch(target.url("/"));
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, HasSubstr("302"));
  EXPECT_EQ(other.asked(), 0);
}

TEST(FetchProfile, ErrorsHaveNothingOfTheAnswer) {
  const Target target({answer("500 hunter1", "", "hunter2\nhunter3"),
                       answer("302 x", "Location: http://hunter4.example/\r\n", "hunter5")});
  for (int i = 0; i < 2; ++i) {
    const auto got = fetch(target.url("/"));
    ASSERT_FALSE(got.ok());
    EXPECT_THAT(got.error().message + got.error().hint, Not(HasSubstr("hunter")));
  }
}

TEST(FetchProfile, DoesNotGoInCircles) {
  const std::string again = answer("302 x", "Location: /\r\n", "");
  const Target target(std::vector<std::string>(4, again));
  const auto got = fetch(target.url("/"));
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, HasSubstr("too often"));
}

}  // namespace
}  // namespace vesta
