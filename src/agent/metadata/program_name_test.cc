#include "agent/metadata/program_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vesta::agent {
namespace {

std::string name(std::string_view executable, std::string_view thread,
                 const std::vector<std::string>& words, const std::string& folder = "/") {
  std::string line;
  for (const std::string& word : words) line += word + '\0';
  return program_name({executable, thread, line, [&] { return folder; }});
}

TEST(ProgramName, LinksAreNamedAsTheyWereStarted) {
  // Debian's redis-server is a link to redis-check-rdb, and writes a title over its arguments.
  EXPECT_EQ(
      name("/usr/bin/redis-check-rdb", "redis-server", {"/usr/bin/redis-server 127.0.0.1:6379"}),
      "redis-server");
  EXPECT_EQ(name("/usr/bin/x86_64-linux-gnu-gcc-12", "cc", {"cc", "-c", "a.c"}), "cc");
  EXPECT_EQ(name("/opt/tool", "a-name-of-more-", {"/opt/a-name-of-more-than-15-bytes"}),
            "a-name-of-more-than-15-bytes");
  // Either alone may be anything.
  EXPECT_EQ(name("/usr/bin/sleep", "sleep", {"innocent"}), "sleep");
  EXPECT_EQ(name("/usr/bin/shop", "worker-7", {"/usr/bin/shop"}), "shop");
  EXPECT_EQ(name("/usr/lib/postgresql/15/bin/postgres", "postgres", {"postgres: checkpointer "}),
            "postgres");
}

TEST(ProgramName, AppletsAreProgramsOfTheirOwn) {
  EXPECT_EQ(name("/bin/busybox", "httpd", {"httpd", "-f"}), "httpd");
  EXPECT_EQ(name("/bin/busybox", "busybox", {"busybox", "httpd", "-f"}), "httpd");
  EXPECT_EQ(name("/bin/busybox", "sh", {"/bin/sh", "/etc/deploy.sh"}), "deploy.sh");
  EXPECT_EQ(name("/bin/busybox", "busybox", {"busybox", "sh", "/etc/deploy.sh"}), "deploy.sh");
  EXPECT_EQ(name("/bin/busybox", "busybox", {"busybox", "--list"}), "busybox");
  EXPECT_EQ(name("/bin/busybox", "ls", {}), "ls");  // it has ended
}

TEST(ProgramName, ScriptsOfOneStemStayApart) {
  EXPECT_EQ(name("/usr/bin/python3.11", "python3", {"python3", "/srv/w.py"}), "w.py");
  EXPECT_EQ(name("/usr/bin/node", "node", {"node", "/srv/w.js"}), "w.js");
  EXPECT_EQ(name("/usr/bin/ruby3.1", "ruby", {"ruby", "/srv/w.rb"}), "w.rb");
}

TEST(ProgramName, GenericNamesTakeTheirFolder) {
  EXPECT_EQ(name("/usr/bin/python3.11", "python3", {"python3", "/srv/checkout/main.py"}),
            "checkout/main.py");
  EXPECT_EQ(name("/usr/bin/node", "node", {"node", "/srv/shop/dist/src/index.js"}),
            "shop/index.js");
  EXPECT_EQ(name("/usr/bin/python3.11", "python3", {"python3", "manage.py", "runserver"},
                 "/home/anna/billing"),
            "billing/manage.py");
  EXPECT_EQ(name("/usr/bin/python3.11", "python3", {"python3", "../billing/./app.py"}, "/srv/shop"),
            "billing/app.py");
  EXPECT_EQ(name("/usr/bin/python3.11", "python3", {"python3", "-m", "app"}, "/srv/shop"),
            "shop/app");
  EXPECT_EQ(name("/usr/bin/python3.11", "python3", {"python3", "-m", "shop.main"}, "/x"),
            "shop.main");
  EXPECT_EQ(name("/usr/bin/java", "java", {"java", "-jar", "/srv/shop/app-1.2.jar"}), "shop/app");
  EXPECT_EQ(name("/usr/bin/java", "java", {"java", "Main"}, "/srv/shop"), "shop/Main");
  EXPECT_EQ(name("/srv/checkout/bin/server", "server", {"./server"}), "checkout/server");
  EXPECT_EQ(name("/srv/shop/releases/20261118093000/main", "main", {"main"}), "shop/main");
  EXPECT_EQ(name("/srv/shop/v1.2.3/main", "main", {"main"}), "shop/main");
}

TEST(ProgramName, FoldersThatSayNothingAreLeftOut) {
  EXPECT_EQ(name("/usr/bin/python3.11", "python3", {"python3", "/app/src/main.py"}), "main.py");
  EXPECT_EQ(name("/usr/bin/python3.11", "python3", {"python3", "main.py"}, ""), "main.py");
  EXPECT_EQ(name("/tmp/go-build123/b001/exe/main", "main", {"main"}), "main");
  EXPECT_EQ(name("/usr/bin/python3.11", "python3", {"python3", "../../../../main.py"}, "/srv/shop"),
            "main.py");
  EXPECT_EQ(name("/usr/bin/python3.11", "python3", {"python3", "/srv/has blank/main.py"}),
            "main.py");
}

TEST(ProgramName, NoScriptMeansTheInterpreterItself) {
  EXPECT_EQ(name("/usr/bin/bash", "bash", {"bash", "/dev/fd/3"}), "bash");
  EXPECT_EQ(name("/usr/bin/dash", "sh", {"sh", "-c", "secret"}), "sh");
  EXPECT_EQ(name("/usr/bin/python3.11", "python3.11", {}), "python3.11");
}

TEST(ProgramName, TitlesOfInterpretedProgramsCount) {
  EXPECT_EQ(name("/usr/bin/python3.11", "gunicorn: maste", {"gunicorn: master [shop:app]"}),
            "gunicorn");
  EXPECT_EQ(name("/usr/bin/ruby3.1", "ruby3.1", {"puma 5.6.5 (tcp://0.0.0.0:9292) [shop]"}),
            "puma");
}

TEST(ProgramName, TheCommandLineIsReadOnlyWhenItTellsMore) {
  EXPECT_FALSE(needs_command_line("/usr/sbin/nginx", "nginx"));
  EXPECT_FALSE(needs_command_line("/opt/a-name-of-more-than-15-bytes", "a-name-of-more-"));
  EXPECT_FALSE(needs_command_line("", "kworker"));
  EXPECT_TRUE(needs_command_line("/usr/bin/redis-check-rdb", "redis-server"));
  EXPECT_TRUE(needs_command_line("/usr/bin/python3.11", "python3.11"));
  EXPECT_TRUE(needs_command_line("/bin/busybox", "busybox"));
}

}  // namespace
}  // namespace vesta::agent
