#include "cli/record/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/test_requirements.h"

namespace vesta::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

int wait_for(ChildProcess& child) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < deadline) {
    if (const auto status = child.poll()) return *status;
    std::this_thread::sleep_for(2ms);
  }
  ADD_FAILURE() << "the child did not end";
  return -1;
}

std::string temporary_file() {
  std::string path = ::testing::TempDir() + "vesta-child-XXXXXX";
  const UniqueFd fd(::mkstemp(path.data()));
  return path;
}

TEST(ChildProcess, DoesNothingBeforeItIsLetGo) {
  const std::string path = temporary_file();
  auto child = ChildProcess::prepare({"sh", "-c", "echo here > " + path});
  ASSERT_TRUE(child.ok());
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(std::filesystem::file_size(path), 0U);
  ASSERT_TRUE(child->run().ok());
  EXPECT_EQ(wait_for(*child), 0);
  EXPECT_GT(std::filesystem::file_size(path), 0U);
  std::filesystem::remove(path);
}

TEST(ChildProcess, KeepsItsProcessIdOverExec) {
  const std::string path = temporary_file();
  auto child = ChildProcess::prepare({"sh", "-c", "echo $$ > " + path});
  ASSERT_TRUE(child.ok());
  const pid_t pid = child->pid();
  ASSERT_TRUE(child->run().ok());
  wait_for(*child);
  std::ifstream file(path);
  pid_t seen = 0;
  file >> seen;
  EXPECT_EQ(seen, pid);
  std::filesystem::remove(path);
}

TEST(ChildProcess, ACommandThatIsNotThereIsNamed) {
  auto child = ChildProcess::prepare({"vesta-no-such-command"});
  ASSERT_TRUE(child.ok());
  const Status run = child->run();
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(run.error().message, HasSubstr("vesta-no-such-command"));
}

TEST(ChildProcess, OneThatIsNeverLetGoLeaves) {
  pid_t pid = 0;
  {
    auto child = ChildProcess::prepare({"sleep", "1000"});
    ASSERT_TRUE(child.ok());
    pid = child->pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(ChildProcess, RunsAsWhoTypedSudo) {
  VESTA_REQUIRE_OR_SKIP(::geteuid() == 0, "only root can become someone else");
  const std::string path = temporary_file();
  std::filesystem::permissions(path, std::filesystem::perms(0666));
  ::setenv("SUDO_UID", "65534", 1);
  ::setenv("SUDO_GID", "65534", 1);
  auto child = ChildProcess::prepare({"sh", "-c", "id -u > " + path + "; id -G >> " + path});
  ::unsetenv("SUDO_UID");
  ::unsetenv("SUDO_GID");
  ASSERT_TRUE(child.ok());
  ASSERT_TRUE(child->run().ok());
  wait_for(*child);
  std::ifstream file(path);
  std::string uid;
  std::string groups;
  std::getline(file, uid);
  std::getline(file, groups);
  EXPECT_EQ(uid, "65534");
  EXPECT_EQ(groups, "65534");
  std::filesystem::remove(path);
}

TEST(WaitStatus, IsToldInWords) {
  EXPECT_EQ(describe_wait_status(0), "");
  EXPECT_EQ(describe_wait_status(3 << 8), "exited with code 3");
  EXPECT_THAT(describe_wait_status(SIGSEGV), HasSubstr("signal 11"));
}

}  // namespace
}  // namespace vesta::cli
