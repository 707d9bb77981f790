#include "store/rocksdb/log_list.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/mutex.h"

namespace vesta::rocks {
namespace {

constexpr uint64_t kMaxBytes = 1 << 20;
// Whatever a crash leaves of the file is not a list without its last line.
constexpr std::string_view kEnd = "end\n";

// Names the manifest, of which every start makes a new one. Where it is another one, a version that
// keeps no list or a tool had the store open since, and the list says nothing about its logs.
std::string first_line(const std::string& directory) {
  const auto current = InputFile::open(directory + "/CURRENT", kMaxBytes);
  const std::string_view text = current ? current->bytes() : std::string_view();
  return fmt::format("of {}\n", text.substr(0, text.find('\n')));
}

bool is_log_name(std::string_view line) {
  return line.ends_with(".log") && line.find('/') == std::string_view::npos;
}

}  // namespace

LogList::LogList(std::string directory) : directory_(std::move(directory)) {
  const auto file = InputFile::open(path(), kMaxBytes);
  if (!file || !file->bytes().ends_with(kEnd)) return;
  if (!file->bytes().starts_with(first_line(directory_))) return;
  std::string_view text = file->bytes();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (is_log_name(line)) logs_.emplace(line);
  }
}

std::string LogList::path() const {
  return directory_ + "/wal-files";
}

std::vector<std::string> LogList::missing() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> out;
  for (const std::string& log : logs_) {
    std::error_code error;
    const bool is_there = std::filesystem::exists(directory_ + "/" + log, error);
    if (!is_there && !error) out.push_back(log);
  }
  return out;
}

void LogList::add(std::string_view log) {
  const MutexLock lock(mutex_);
  logs_.emplace(log);
  store();
}

void LogList::remove(std::string_view log) {
  const MutexLock lock(mutex_);
  if (logs_.erase(std::string(log)) != 0) store();
}

void LogList::store() {
  std::string text = first_line(directory_);
  for (const std::string& log : logs_) text += log + "\n";
  text += kEnd;
  const std::string temporary = path() + ".tmp";
  bool is_stored = false;
  {
    const UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    is_stored = fd.valid() &&
                ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                ::fdatasync(fd.get()) == 0;
  }
  if (is_stored && std::rename(temporary.c_str(), path().c_str()) == 0) return;
  ::unlink(temporary.c_str());
  ::unlink(path().c_str());
}

}  // namespace vesta::rocks
