#include "server/http/tcp_acceptor.h"
#include "base/mutex.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <vector>

#include "base/test_requirements.h"
#include "server/testing/http_client.h"

namespace vesta::server {
namespace {

using std::chrono::milliseconds;
using testing::eventually;
using testing::HttpClient;

// Owns what it is given, as gRPC does.
class Owner {
 public:
  void take(int fd) {
    const MutexLock lock(mutex_);
    files_.emplace_back(fd);
  }
  size_t count() {
    const MutexLock lock(mutex_);
    return files_.size();
  }
  void close_first() {
    const MutexLock lock(mutex_);
    files_.erase(files_.begin());
  }

 private:
  Mutex mutex_;
  std::vector<UniqueFd> files_ GUARDED_BY(mutex_);
};

TEST(TcpAcceptorTest, HandsOverConnectionsUpToTheCap) {
  Owner owner;
  auto acceptor = TcpAcceptor::listen({"127.0.0.1", 0, false}, 2);
  ASSERT_TRUE(acceptor.ok());
  (*acceptor)->start([&](int fd) { owner.take(fd); });
  const uint16_t port = (*acceptor)->address().port;
  ASSERT_NE(port, 0);

  const HttpClient first(port);
  const HttpClient second(port);
  ASSERT_TRUE(eventually([&] { return owner.count() == 2; }));
  HttpClient third(port);
  EXPECT_TRUE(third.closed_within(milliseconds(10'000)));
  EXPECT_EQ(owner.count(), 2u);
  EXPECT_EQ((*acceptor)->stats().accepted, 2u);
  EXPECT_EQ((*acceptor)->stats().refused, 1u);

  // One that the owner closes makes room, though nobody says so.
  owner.close_first();
  ASSERT_TRUE(eventually([&] {
    const HttpClient next(port);
    return owner.count() == 2;
  }));
  EXPECT_EQ((*acceptor)->stats().connections, 2u);
}

TEST(TcpAcceptorTest, AFileThatHasTheSameNumberIsNotTheSameConnection) {
  Owner owner;
  auto acceptor = TcpAcceptor::listen({"127.0.0.1", 0, false}, 1);
  ASSERT_TRUE(acceptor.ok());
  // The connection is gone at once, and another socket has its number.
  int reused = -1;
  std::atomic<int> taken = 0;
  (*acceptor)->start([&](int fd) {
    if (++taken == 1) {
      const UniqueFd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      reused = ::dup2(other.get(), fd);
    } else {
      owner.take(fd);
    }
  });
  const uint16_t port = (*acceptor)->address().port;
  const HttpClient first(port);
  ASSERT_TRUE(eventually([&] { return taken == 1; }));
  std::vector<HttpClient> next;
  ASSERT_TRUE(eventually([&] {
    next.emplace_back(port);
    return owner.count() == 1;
  }));
  (*acceptor)->stop();
  ::close(reused);
}

TEST(TcpAcceptorTest, ListensOnBothFamilies) {
  Owner owner;
  auto acceptor = TcpAcceptor::listen({"::", 0, true}, 10);
  VESTA_REQUIRE_OR_SKIP(acceptor.ok(), "there is no IPv6 here");
  (*acceptor)->start([&](int fd) { owner.take(fd); });
  const HttpClient client((*acceptor)->address().port);
  EXPECT_TRUE(eventually([&] { return owner.count() == 1; }));
}

TEST(TcpAcceptorTest, SaysWhyItCannotListen) {
  const auto first = TcpAcceptor::listen({"127.0.0.1", 0, false}, 1);
  ASSERT_TRUE(first.ok());
  const auto second = TcpAcceptor::listen((*first)->address(), 1);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
  EXPECT_NE(second.error().hint.find("another port"), std::string::npos);
}

TEST(TcpAcceptorTest, NobodyConnectsAfterItStopped) {
  auto acceptor = TcpAcceptor::listen({"127.0.0.1", 0, false}, 1);
  ASSERT_TRUE(acceptor.ok());
  (*acceptor)->start([](int fd) { ::close(fd); });
  const uint16_t port = (*acceptor)->address().port;
  (*acceptor)->stop();
  EXPECT_FALSE(HttpClient(port).connected());
}

}  // namespace
}  // namespace vesta::server
