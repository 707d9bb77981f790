#include "agent/process/proc_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <memory>

namespace vesta::agent {
namespace {

constexpr uint32_t kKernelThreadFlag = 0x00200000;  // PF_KTHREAD
constexpr size_t kMaxProcesses = 1 << 22;           // the kernel's PID_MAX_LIMIT

Error proc_error(const char* name, int error_number) {
  const ErrorCode code = error_number == ENOENT || error_number == ESRCH   ? ErrorCode::kNotFound
                         : error_number == EACCES || error_number == EPERM ? ErrorCode::kPermission
                                                                           : ErrorCode::kIo;
  return {code, fmt::format("cannot read {}: {}", name, std::strerror(error_number)), ""};
}

template <class T>
bool to_number(std::string_view text, T& out) {
  const char* end = text.data() + text.size();
  const auto [ptr, error] = std::from_chars(text.data(), end, out);
  return error == std::errc() && ptr == end;
}

// The next word; blanks, tabs and newlines part them.
std::string_view take_word(std::string_view& text) {
  const size_t start = text.find_first_not_of(" \t\n");
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start);
  const size_t end = std::min(text.find_first_of(" \t\n"), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

std::string_view take_line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// Numbers among the names of a folder. Takes over `fd`.
std::vector<uint32_t> numbers_in(UniqueFd fd, size_t max) {
  std::vector<uint32_t> numbers;
  DIR* stream = fd.valid() ? ::fdopendir(fd.get()) : nullptr;
  if (stream == nullptr) return numbers;
  fd.release();
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(stream, ::closedir);
  while (numbers.size() < max) {
    const dirent* entry = ::readdir(dir.get());
    if (entry == nullptr) break;
    uint32_t number = 0;
    if (to_number(entry->d_name, number)) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::optional<ProcStat> parse_proc_stat(std::string_view text) {
  // The name may hold blanks and brackets, so it ends with the last bracket of all.
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  ProcStat out;
  out.comm = text.substr(open + 1, close - open - 1);
  text.remove_prefix(close + 1);
  // proc(5): the name is field 2.
  std::array<std::string_view, 23> fields;
  for (size_t i = 3; i < fields.size(); ++i) fields[i] = take_word(text);
  uint32_t flags = 0;
  if (fields[3].size() != 1 || !to_number(fields[4], out.parent) || !to_number(fields[9], flags) ||
      !to_number(fields[20], out.threads) || !to_number(fields[22], out.start_ticks)) {
    return std::nullopt;
  }
  out.state = fields[3][0];
  out.is_kernel_thread = (flags & kKernelThreadFlag) != 0;
  return out;
}

ProcStatus parse_proc_status(std::string_view text) {
  ProcStatus out;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view key = take_word(line);
    if (key == "Uid:") {
      take_word(line);
      to_number(take_word(line), out.uid);
    } else if (key == "NSpid:") {
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        to_number(word, out.ns_pid);
      }
    }
  }
  return out;
}

Result<std::string> read_small_file(int dir_fd, const char* name, size_t max_bytes) {
  const UniqueFd fd(::openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return proc_error(name, errno);
  std::string out;
  size_t used = 0;
  while (used < max_bytes) {
    out.resize(std::min(max_bytes, std::max<size_t>(used * 2, 4096)));
    const ssize_t got = ::read(fd.get(), out.data() + used, out.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return proc_error(name, errno);
    if (got == 0) break;
    used += static_cast<size_t>(got);
  }
  out.resize(used);
  return out;
}

std::vector<uint32_t> list_processes(const std::string& proc_root) {
  std::vector<uint32_t> pids = numbers_in(
      UniqueFd(::open(proc_root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), kMaxProcesses);
  std::ranges::sort(pids, std::greater());
  return pids;
}

std::optional<uint64_t> running_since(const std::string& proc_root, uint32_t pid) {
  const auto dir = ProcDir::open(proc_root, pid);
  if (!dir.ok()) return std::nullopt;
  const auto text = dir->read("stat", 4096);
  const std::optional<ProcStat> stat = text.ok() ? parse_proc_stat(*text) : std::nullopt;
  if (!stat) return std::nullopt;
  // A first thread that ended before the others is such a rest, too, but the process runs.
  const bool is_rest = stat->state == 'Z' || stat->state == 'X';
  if (is_rest && stat->threads <= 1) return std::nullopt;
  return stat->start_ticks;
}

Result<ProcDir> ProcDir::open(const std::string& proc_root, uint32_t pid) {
  const std::string path = fmt::format("{}/{}", proc_root, pid);
  UniqueFd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return proc_error(path.c_str(), errno);
  return ProcDir(std::move(fd));
}

Result<std::string> ProcDir::read(const char* name, size_t max_bytes) const {
  return read_small_file(fd_.get(), name, max_bytes);
}

Result<std::string> ProcDir::read_link(const char* name) const {
  std::array<char, PATH_MAX> buffer{};
  const ssize_t got = ::readlinkat(fd_.get(), name, buffer.data(), buffer.size());
  if (got < 0) return proc_error(name, errno);
  return std::string(buffer.data(), static_cast<size_t>(got));
}

Result<uint64_t> ProcDir::read_maps(const std::function<void(const ProcMapping&)>& callback,
                                    uint64_t max_bytes) const {
  const UniqueFd fd(::openat(fd_.get(), "maps", O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return proc_error("maps", errno);
  MapsParser parser(callback);
  std::array<char, 32 * 1024> buffer{};
  for (uint64_t bytes = 0; bytes < max_bytes;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return proc_error("maps", errno);
    if (got == 0) break;
    bytes += static_cast<uint64_t>(got);
    parser.feed({buffer.data(), static_cast<size_t>(got)});
  }
  parser.finish();
  return parser.lines();
}

std::vector<uint32_t> ProcDir::threads(size_t max) const {
  return numbers_in(UniqueFd(::openat(fd_.get(), "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), max);
}

}  // namespace vesta::agent
