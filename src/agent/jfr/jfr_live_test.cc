// A real JVM that dumps its recording while the folder is watched.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <fstream>

#include "agent/jfr/jfr_folder.h"
#include "agent/jfr/test_folder.h"
#include "base/test_requirements.h"
#include "testing/temporary_folder.h"

namespace vesta::agent {
namespace {

constexpr const char* kProgram = R"(
public class Burner {
  public static void main(String[] args) throws Exception {
    long end = System.nanoTime() + 2_000_000_000L, sum = 0;
    while (System.nanoTime() < end) for (int i = 0; i < 100000; i++) sum += burn(i);
    System.out.println(sum);
  }
  static long burn(long i) { return (i * 31) ^ (i >>> 3); }
}
)";

TEST(JfrLive, AJvmThatDumpsWhileWeWatchIsShippedOnce) {
  VESTA_REQUIRE_OR_SKIP(::access("/usr/bin/java", X_OK) == 0, "there is no java");
  const TemporaryFolder folder;
  const std::string in = folder.path("in");
  std::filesystem::create_directory(in);
  std::ofstream(folder.path("Burner.java")) << kProgram;
  Received received;
  JfrFolderOptions options;
  options.input_dirs = {in};
  options.owner.host_name = "node-1";
  auto started = JfrFolder::start(options, received.ship());
  ASSERT_TRUE(started.ok()) << started.error().message;

  const std::string recording =
      "-XX:StartFlightRecording=settings=profile,filename=" + in + "/r.jfr";
  const std::string source = folder.path("Burner.java");
  std::vector<const char*> words = {
      "/usr/bin/java",      recording.c_str(), "-Dspring.application.name=burner-shop",
      "-Dpassword=hunter2", source.c_str(),    nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t pid = 0;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the words are not written to.
  ASSERT_EQ(
      ::posix_spawn(&pid, words[0], &actions, nullptr, const_cast<char**>(words.data()), environ),
      0);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  VESTA_REQUIRE_OR_SKIP(WIFEXITED(status) && WEXITSTATUS(status) == 0,
                        "java could not run the program (a JRE without a compiler?)");
  ASSERT_TRUE(wait_for([&] { return received.count() > 0; })) << (*started)->stats().last_error;
  EXPECT_TRUE(wait_for([&] { return (*started)->stats().files_waiting == 0; }));
  EXPECT_EQ(received.count(), 1U);
  EXPECT_EQ(received.label(0, "service.name"), "burner-shop");
  EXPECT_EQ(received.label(0, "host.name"), "node-1");
  EXPECT_GT(received.samples()[0], 20);
  EXPECT_EQ((*started)->stats().files_broken, 0U);
}

}  // namespace
}  // namespace vesta::agent
