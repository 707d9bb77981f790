#include "agent/status/watchdog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <thread>

namespace vesta::agent {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Stands in for the service manager, in the abstract namespace.
class Manager {
 public:
  Manager() : name_("@vesta-test-" + std::to_string(::getpid())) {
    fd_ = UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name_.data(), name_.size());
    address.sun_path[0] = '\0';
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address),
                     static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name_.size())),
              0);
  }
  const std::string& name() const { return name_; }
  // Empty when there is none.
  std::string message() {
    char text[512];
    const ssize_t bytes = ::recv(fd_.get(), text, sizeof(text), 0);
    return {text, bytes > 0 ? static_cast<size_t>(bytes) : 0};
  }

 private:
  std::string name_;
  UniqueFd fd_;
};

TEST(ServiceNotifier, SpeaksToTheManager) {
  Manager manager;
  const ServiceNotifier notifier(manager.name(), std::nullopt);
  notifier.ready();
  EXPECT_EQ(manager.message(), "READY=1");
  notifier.reloading();
  EXPECT_THAT(manager.message(), StartsWith("RELOADING=1\nMONOTONIC_USEC="));
  notifier.status("99 a second\nREADY=0");
  EXPECT_EQ(manager.message(), "STATUS=99 a second");
  notifier.stopping();
  EXPECT_EQ(manager.message(), "STOPPING=1");
}

TEST(ServiceNotifier, TakesItsOrdersFromTheEnvironment) {
  ::setenv("NOTIFY_SOCKET", "/nowhere", 1);
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  ::unsetenv("WATCHDOG_PID");
  EXPECT_EQ(ServiceNotifier::from_environment().watchdog(), 30s);
  ::setenv("WATCHDOG_PID", "1", 1);
  EXPECT_EQ(ServiceNotifier::from_environment().watchdog(), std::nullopt) << "not meant for us";
  ::setenv("WATCHDOG_USEC", "soon", 1);
  ::unsetenv("WATCHDOG_PID");
  const ServiceNotifier notifier = ServiceNotifier::from_environment();
  EXPECT_EQ(notifier.watchdog(), std::nullopt);
  notifier.ready();  // to nobody
  ::unsetenv("NOTIFY_SOCKET");
  ::unsetenv("WATCHDOG_USEC");
  ServiceNotifier::from_environment().ready();
}

TEST(Watchdog, IsAliveOnlyWhileEveryLoopIs) {
  Manager manager;
  const ServiceNotifier notifier(manager.name(), 400ms);
  Watchdog watchdog(notifier);
  Heartbeat& collecting = watchdog.add("collecting");
  Heartbeat& naming = watchdog.add("naming");
  watchdog.tick();
  EXPECT_EQ(manager.message(), "WATCHDOG=1");
  watchdog.tick();
  EXPECT_EQ(manager.message(), "") << "not more often than needed";
  // One loop hangs.
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (watchdog.stuck().empty() && std::chrono::steady_clock::now() < deadline) {
    collecting.beat();
    std::this_thread::sleep_for(10ms);
  }
  collecting.beat();
  EXPECT_THAT(watchdog.stuck(), ElementsAre("naming"));
  while (!manager.message().empty()) {
  }
  watchdog.tick();
  EXPECT_EQ(manager.message(), "");
  naming.beat();
  collecting.beat();
  EXPECT_THAT(watchdog.stuck(), IsEmpty());
  watchdog.tick();
  EXPECT_EQ(manager.message(), "WATCHDOG=1");
}

TEST(Watchdog, WithoutAManagerItStillKnowsWhoIsStuck) {
  const ServiceNotifier notifier("", std::nullopt);
  Watchdog watchdog(notifier, 20ms);
  watchdog.add("collecting");
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (watchdog.stuck().empty() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(5ms);
  EXPECT_THAT(watchdog.stuck(), ElementsAre("collecting"));
  watchdog.tick();
}

}  // namespace
}  // namespace vesta::agent
