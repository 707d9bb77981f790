#include "cli/record/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace vesta::cli {
namespace {

struct Pipe {
  UniqueFd reader;
  UniqueFd writer;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return Error{ErrorCode::kIo, fmt::format("cannot make a pipe: {}", std::strerror(errno)), ""};
  return Pipe{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

struct InvokingUser {
  uid_t uid = 0;
  gid_t gid = 0;
  std::string name;
  std::string home;
};

std::optional<uint32_t> number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  uint32_t number = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Who typed sudo; nothing when nobody did.
std::optional<InvokingUser> invoking_user() {
  if (::geteuid() != 0) return std::nullopt;
  const auto uid = number_in_environment("SUDO_UID");
  const auto gid = number_in_environment("SUDO_GID");
  if (!uid || !gid || *uid == 0) return std::nullopt;
  InvokingUser user{*uid, *gid, {}, {}};
  if (const passwd* entry = ::getpwuid(*uid)) {
    user.name = entry->pw_name;
    user.home = entry->pw_dir;
  }
  return user;
}

// In the child. Order matters: groups and group while still root, the user last.
bool become(const InvokingUser& user) {
  if (user.name.empty() ? ::setgroups(0, nullptr) != 0
                        : ::initgroups(user.name.c_str(), user.gid) != 0) {
    return false;
  }
  if (::setresgid(user.gid, user.gid, user.gid) != 0) return false;
  if (::setresuid(user.uid, user.uid, user.uid) != 0) return false;
  if (!user.home.empty()) ::setenv("HOME", user.home.c_str(), 1);
  if (!user.name.empty()) {
    ::setenv("USER", user.name.c_str(), 1);
    ::setenv("LOGNAME", user.name.c_str(), 1);
  }
  return true;
}

[[noreturn]] void run_child(const std::vector<std::string>& words, int release, int failure,
                            const std::optional<InvokingUser>& user) {
  char byte = 0;
  // End of file: the parent gave up.
  if (::read(release, &byte, 1) != 1) ::_exit(0);
  if (user && !become(*user)) {
    const int error_number = errno;
    (void)!::write(failure, &error_number, sizeof(error_number));
    ::_exit(126);
  }
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): execvp's interface is older than const.
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  const int error_number = errno;
  (void)!::write(failure, &error_number, sizeof(error_number));
  ::_exit(127);
}

}  // namespace

ChildProcess::ChildProcess(pid_t pid, std::string name, UniqueFd release, UniqueFd failure)
    : pid_(pid),
      name_(std::move(name)),
      release_(std::move(release)),
      failure_(std::move(failure)) {}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      name_(std::move(other.name_)),
      release_(std::move(other.release_)),
      failure_(std::move(other.failure_)),
      status_(other.status_) {}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0 || !release_.valid()) return;
  release_.reset();  // the child sees the end of the pipe and leaves
  ::waitpid(pid_, nullptr, 0);
}

Result<ChildProcess> ChildProcess::prepare(const std::vector<std::string>& words) {
  VESTA_ASSIGN(Pipe release, make_pipe());
  VESTA_ASSIGN(Pipe failure, make_pipe());
  const std::optional<InvokingUser> user = invoking_user();
  const pid_t pid = ::fork();
  if (pid < 0)
    return Error{ErrorCode::kIo, fmt::format("cannot fork: {}", std::strerror(errno)), ""};
  if (pid == 0) {
    release.writer.reset();
    failure.reader.reset();
    run_child(words, release.reader.get(), failure.writer.get(), user);
  }
  return ChildProcess(pid, words[0], std::move(release.writer), std::move(failure.reader));
}

Status ChildProcess::run() {
  (void)!::write(release_.get(), "g", 1);
  release_.reset();
  int error_number = 0;
  ssize_t got = 0;
  do {
    got = ::read(failure_.get(), &error_number, sizeof(error_number));
  } while (got < 0 && errno == EINTR);
  failure_.reset();
  if (got != sizeof(error_number)) return {};
  int status = 0;
  ::waitpid(pid_, &status, 0);
  status_ = status;
  Error error{ErrorCode::kIo, fmt::format("cannot run {}: {}", name_, std::strerror(error_number)),
              ""};
  if (error_number == ENOENT) {
    error.code = ErrorCode::kNotFound;
    error.hint = "check the name, or give the full path";
  } else if (error_number == EACCES) {
    error.code = ErrorCode::kPermission;
    error.hint = "make it executable (chmod +x)";
  }
  return error;
}

std::optional<int> ChildProcess::poll() {
  if (status_) return status_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) == pid_) status_ = status;
  return status_;
}

std::string describe_wait_status(int status) {
  if (WIFEXITED(status)) {
    return WEXITSTATUS(status) == 0 ? "" : fmt::format("exited with code {}", WEXITSTATUS(status));
  }
  if (WIFSIGNALED(status)) {
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  }
  return "";
}

}  // namespace vesta::cli
