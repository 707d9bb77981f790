// A child process that obeys (tests/programs/process/victim.c), and build ids for copies of it. For
// tests only.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "symbols/elf/elf_file.h"

namespace vesta::agent {

class Victim {
 public:
  // `before_exec` runs in the child: system calls only; false ends it.
  explicit Victim(const std::string& program, const char* argument = nullptr,
                  const std::function<bool()>& before_exec = {}) {
    int input[2];
    int output[2];
    if (::pipe2(input, O_CLOEXEC) != 0 || ::pipe2(output, O_CLOEXEC) != 0) return;
    std::vector<char> name(program.begin(), program.end());
    name.push_back('\0');
    std::string word = argument == nullptr ? "" : argument;
    char* const arguments[] = {name.data(), argument == nullptr ? nullptr : word.data(), nullptr};
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(input[0], 0);
      ::dup2(output[1], 1);
      if (!before_exec || before_exec()) ::execv(name.data(), arguments);
      ::_exit(127);
    }
    to_ = UniqueFd(input[1]);
    from_ = UniqueFd(output[0]);
    ::close(input[0]);
    ::close(output[1]);
  }
  Victim(Victim&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        to_(std::move(other.to_)),
        from_(std::move(other.from_)) {}
  ~Victim() { end(); }

  uint32_t pid() const { return static_cast<uint32_t>(pid_); }

  // One line of its output, without the newline; empty after 20 seconds or at its end.
  std::string line() const {
    std::string out;
    while (true) {
      pollfd waiting{from_.get(), POLLIN, 0};
      char byte = 0;
      if (::poll(&waiting, 1, 20'000) <= 0 || ::read(from_.get(), &byte, 1) != 1) return "";
      if (byte == '\n') return out;
      out += byte;
    }
  }
  std::string ask(const std::string& command) const {
    const std::string text = command + "\n";
    if (::write(to_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return "";
    return line();
  }
  uint64_t ask_address(const std::string& command) const {
    return std::strtoull(ask(command).c_str(), nullptr, 16);
  }

  bool has_ended() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
    return pid_ <= 0;
  }
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  UniqueFd to_;
  UniqueFd from_;
};

inline std::string build_id_of(const std::string& path) {
  const auto elf = ElfFile::open(path);
  return elf ? (*elf)->build_id().bytes : "";
}

// A copy of a program that is the same but for its build id, which ends with `number`.
inline bool copy_with_build_id(const std::string& from, const std::string& to, uint16_t number) {
  std::ifstream input(from, std::ios::binary);
  std::stringstream text;
  text << input.rdbuf();
  std::string bytes = text.str();
  const std::string id = build_id_of(from);
  const size_t at = id.empty() ? std::string::npos : bytes.find(id);
  if (at == std::string::npos) return false;
  std::memcpy(bytes.data() + at + id.size() - sizeof(number), &number, sizeof(number));
  { std::ofstream(to, std::ios::binary | std::ios::trunc) << bytes; }
  return ::chmod(to.c_str(), 0755) == 0;
}

}  // namespace vesta::agent
