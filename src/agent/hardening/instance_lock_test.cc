#include "agent/hardening/instance_lock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "base/test_requirements.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

using ::testing::HasSubstr;

// A process that takes the lock in namespaces of its own, as an agent in a container does, and
// keeps it until it is killed.
class Holder {
 public:
  Holder() {
    int fds[2];
    if (::pipe(fds) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS);
      const auto lock = InstanceLock::take({});
      const char answer = lock.ok() ? 'y' : 'n';
      (void)!::write(fds[1], &answer, 1);
      while (true) ::pause();
    }
    char answer = 'n';
    (void)!::read(fds[0], &answer, 1);
    has_lock_ = answer == 'y';
    ::close(fds[0]);
    ::close(fds[1]);
  }
  ~Holder() { kill(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  bool has_lock() const { return has_lock_; }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  bool has_lock_ = false;
};

TEST(InstanceLock, ASecondAgentIsRefusedWhateverNamespacesItLivesIn) {
  VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "the lock needs root");
  Holder holder;
  ASSERT_TRUE(holder.has_lock());
  const auto second = InstanceLock::take({});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(holder.pid())));
  holder.kill();
  const auto third = InstanceLock::take({});
  EXPECT_TRUE(third.ok()) << "nothing is left of one that was killed";
}

TEST(InstanceLock, IsFreeAgainWhenItsHolderLetsGo) {
  VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "the lock needs root");
  {
    const auto first = InstanceLock::take({});
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_FALSE(InstanceLock::take({}).ok());
  }
  EXPECT_TRUE(InstanceLock::take({}).ok());
}

TEST(InstanceLock, AStateFolderHasOneOwner) {
  const TemporaryFolder folder;
  const InstanceLockOptions options{folder.path(), false};
  {
    const auto first = InstanceLock::take(options);
    ASSERT_TRUE(first.ok()) << first.error().message;
    const auto second = InstanceLock::take(options);
    ASSERT_FALSE(second.ok());
    EXPECT_THAT(second.error().message, HasSubstr("process " + std::to_string(::getpid())));
  }
  EXPECT_TRUE(InstanceLock::take(options).ok());
  std::filesystem::remove_all(folder.path());
  EXPECT_FALSE(InstanceLock::take(options).ok()) << "there is no folder";
}

}  // namespace
}  // namespace vesta::agent
