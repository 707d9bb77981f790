#include "cli/web/browser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX has no header for it

namespace vesta::cli {
namespace {

bool is_set(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read at a start
  return value != nullptr && *value != '\0';
}

}  // namespace

bool open_browser(const std::string& url) {
  if (!is_set("BROWSER") && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY")) return false;
  std::string program =
      is_set("BROWSER") ? std::getenv("BROWSER") : "xdg-open";  // NOLINT(concurrency-mt-unsafe)
  std::string address = url;
  // The shell puts it into the background, so that it is not our child; the address is a word of
  // its own, not part of the script.
  std::string shell = "sh";
  std::string option = "-c";
  std::string script = "command -v \"$0\" >/dev/null 2>&1 && { \"$0\" \"$1\" & }";
  std::array<char*, 6> words = {shell.data(),   option.data(),  script.data(),
                                program.data(), address.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, "/bin/sh", &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return failed == 0 && ::waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

}  // namespace vesta::cli
