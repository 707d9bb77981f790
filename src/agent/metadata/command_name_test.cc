#include "agent/metadata/command_name.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace vesta::agent {
namespace {

std::string program(std::string_view executable, std::initializer_list<std::string_view> words) {
  std::string line(executable);
  line += '\0';
  for (const std::string_view word : words) {
    line += word;
    line += '\0';
  }
  return program_of_interpreter(executable, split_command_line(line)).name;
}

TEST(CommandName, ScriptsNameWhatInterpretersRun) {
  EXPECT_EQ(program("python3.11", {"/srv/shop/worker.py", "--password", "x"}), "worker.py");
  EXPECT_EQ(program("python3", {"-u", "-X", "dev", "worker.py"}), "worker.py");
  EXPECT_EQ(program("python3", {"-m", "uvicorn", "shop:app"}), "uvicorn");
  EXPECT_EQ(program("python3", {"/usr/local/bin/gunicorn", "shop:app"}), "gunicorn");
  EXPECT_EQ(program("node", {"--max-old-space-size=512", "server.js"}), "server.js");
  EXPECT_EQ(program("node", {"--require", "./tracing.js", "/app/server.mjs"}), "server.mjs");
  EXPECT_EQ(program("ruby3.1", {"-I", "lib", "bin/puma", "-C", "x"}), "puma");
  EXPECT_EQ(program("php8.2", {"-d", "a=b", "artisan", "queue:work"}), "artisan");
  EXPECT_EQ(program("php", {"-f", "/srv/cron.php"}), "cron.php");
  EXPECT_EQ(program("perl", {"/usr/sbin/munin.pl"}), "munin.pl");
  EXPECT_EQ(program("bash", {"-e", "/etc/backup.sh"}), "backup.sh");
}

TEST(CommandName, MainClassesAndJarsNameJavaPrograms) {
  EXPECT_EQ(program("java", {"-Xmx1g", "-jar", "/opt/payments-1.4.2-SNAPSHOT.jar", "--key=k"}),
            "payments");
  EXPECT_EQ(program("java", {"-cp", "/a.jar:/b.jar", "-Dx=y", "com.acme.Shop", "secret"}),
            "com.acme.Shop");
  EXPECT_EQ(program("java", {"-p", "mods", "-m", "shop/com.acme.Main"}), "com.acme.Main");
  EXPECT_EQ(program("java", {"-version"}), "");
  EXPECT_EQ(program("java", {"-jar"}), "");
}

TEST(CommandName, CodeAndArgumentsNameNothing) {
  EXPECT_EQ(program("python3", {"-c", "print('secret')"}), "");
  EXPECT_EQ(program("bash", {"-c", "curl -u me:secret x"}), "");
  EXPECT_EQ(program("bash", {"-lc", "secret"}), "");
  EXPECT_EQ(program("sh", {}), "");
  EXPECT_EQ(program("node", {"-e", "secret"}), "");
  EXPECT_EQ(program("node", {"--inspect-secret", "hunter2"}), "");
  EXPECT_EQ(program("perl", {"-e", "secret"}), "");
  EXPECT_EQ(program("python3", {"has blank.py"}), "");
  EXPECT_EQ(program("nginx", {"-c", "/etc/nginx.conf"}), "");
}

TEST(CommandName, ProgramsThatAreNotFilesHaveNoName) {
  EXPECT_EQ(program("bash", {"/dev/fd/3"}), "");
  EXPECT_EQ(program("bash", {"-x", "/proc/self/fd/63", "argument"}), "");
  EXPECT_EQ(program("python3", {"/proc/4711/fd/9"}), "");
  EXPECT_EQ(program("python3", {"/dev/stdin"}), "");
  EXPECT_EQ(program("python3", {"-", "argument"}), "");
  EXPECT_EQ(program("node", {"-", "argument"}), "");
  EXPECT_EQ(program("bash", {"-s", "argument"}), "");
  EXPECT_EQ(program("sh", {"-es", "argument"}), "");
  EXPECT_EQ(program("bash", {"--posix", "./deploy.sh"}), "deploy.sh");
}

TEST(CommandName, AWordThatIsCutOffIsNotTaken) {
  const std::string_view line("python3\0work", 12);
  EXPECT_EQ(program_of_interpreter("python3", split_command_line(line)).name, "");
  EXPECT_EQ(program_of_interpreter("python3", {}).name, "");
}

TEST(CommandName, VersionsDoNotMakeAnotherInterpreter) {
  EXPECT_TRUE(is_interpreter("python3.11"));
  EXPECT_TRUE(is_interpreter("ruby2.7"));
  EXPECT_TRUE(is_interpreter("java"));
  EXPECT_FALSE(is_interpreter("javac"));
  EXPECT_FALSE(is_interpreter("php-fpm8.2"));
  EXPECT_FALSE(is_interpreter("node_exporter"));
  EXPECT_FALSE(is_interpreter(""));
  EXPECT_FALSE(is_interpreter("123"));
}

}  // namespace
}  // namespace vesta::agent
