#include "agent/jfr/shipped_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/file.h"
#include "base/private_file.h"

namespace vesta::agent {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{64} << 20;
constexpr size_t kMaxPathBytes = 8192;
constexpr uint64_t kSlackLines = 1000;

std::string escaped(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    out += text[i] == 'n' ? '\n' : text[i];
  }
  return out;
}

std::string_view next_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  return word;
}

template <class T>
bool read_number(std::string_view word, T& value, int base = 10) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  return error == std::errc() && end == word.data() + word.size() && !word.empty();
}

}  // namespace

std::string note_line(const std::string& path, const ShippedFile* file) {
  const std::string text =
      file == nullptr
          ? "F " + escaped(path)
          : fmt::format("{} {} {} {:016x}{:016x} {}", file->is_broken ? 'B' : 'S', file->stamp.size,
                        file->stamp.mtime_ns, file->content.high, file->content.low, escaped(path));
  return fmt::format("{:016x} {}\n", hash64(text), text);
}

std::optional<ShippedNote> parse_note(std::string_view line) {
  uint64_t checksum = 0;
  if (!read_number(next_word(line), checksum, 16) || checksum != hash64(line)) return std::nullopt;
  const std::string_view kind = next_word(line);
  ShippedNote note;
  if (kind == "S" || kind == "B") {
    ShippedFile file;
    file.is_broken = kind == "B";
    const bool has_stamp = read_number(next_word(line), file.stamp.size) &&
                           read_number(next_word(line), file.stamp.mtime_ns);
    const std::string_view content = next_word(line);
    if (!has_stamp || content.size() != 32 ||
        !read_number(content.substr(0, 16), file.content.high, 16) ||
        !read_number(content.substr(16), file.content.low, 16)) {
      return std::nullopt;
    }
    note.file = file;
  } else if (kind != "F") {
    return std::nullopt;
  }
  if (line.empty() || line.size() > kMaxPathBytes) return std::nullopt;
  note.path = unescaped(line);
  return note;
}

Result<ShippedFiles> ShippedFiles::open(const std::string& path, size_t max_files) {
  ShippedFiles shipped;
  shipped.path_ = path;
  shipped.max_files_ = max_files;
  struct stat info {};
  if (path.empty() || ::lstat(path.c_str(), &info) != 0) return shipped;
  VESTA_ASSIGN(const UniqueFd fd, open_private_file(path));
  VESTA_ASSIGN(const InputFile input, InputFile::from_fd(fd.get(), kMaxFileBytes));
  std::string_view rest = input.bytes();
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    ++shipped.lines_;
    const auto note =
        end == std::string_view::npos ? std::nullopt : parse_note(rest.substr(0, end));
    if (note) {
      shipped.apply(*note);
    } else {
      ++shipped.damaged_lines_;
    }
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  shipped.needs_rewrite_ = shipped.damaged_lines_ != 0;
  return shipped;
}

const ShippedFile* ShippedFiles::find(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second.file;
}

void ShippedFiles::remove(const std::string& path) {
  const auto found = files_.find(path);
  if (found == files_.end()) return;
  const ShippedFile& file = found->second.file;
  if (!file.is_broken) {
    const auto content = contents_.find(file.content);
    if (--content->second == 0) contents_.erase(content);
  }
  by_number_.erase(found->second.number);
  files_.erase(found);
}

void ShippedFiles::apply(const ShippedNote& note) {
  remove(note.path);
  if (!note.file) return;
  const uint64_t number = next_number_++;
  files_[note.path] = {*note.file, number};
  by_number_[number] = note.path;
  if (!note.file->is_broken) ++contents_[note.file->content];
  if (files_.size() > max_files_) remove(std::string(by_number_.begin()->second));
}

Status ShippedFiles::note(const std::string& path, const ShippedFile& file) {
  if (path.size() > kMaxPathBytes / 2) return {};  // held, but no line would be read back
  apply({path, file});
  return append(note_line(path, &file));
}

Status ShippedFiles::forget(const std::string& path) {
  if (!files_.contains(path)) return {};
  remove(path);
  return append(note_line(path, nullptr));
}

std::vector<std::string> ShippedFiles::paths() const {
  std::vector<std::string> paths;
  paths.reserve(files_.size());
  for (const auto& [path, entry] : files_) paths.push_back(path);
  return paths;
}

Status ShippedFiles::append(const std::string& line) {
  if (path_.empty()) return {};
  if (needs_rewrite_ || ++lines_ > 2 * files_.size() + kSlackLines) return rewrite();
  const auto fd = append_private_file(path_);
  if (fd && ::write(fd->get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
      ::fdatasync(fd->get()) == 0) {
    return {};
  }
  const std::string problem =
      fd ? fmt::format("cannot write {}: {}", path_, std::strerror(errno)) : fd.error().message;
  needs_rewrite_ = true;
  return Error{ErrorCode::kIo, "cannot save which recordings were sent: " + problem,
               "after a restart these files are sent again"};
}

Status ShippedFiles::rewrite() {
  std::string text;
  for (const auto& [number, path] : by_number_) text += note_line(path, &files_[path].file);
  VESTA_TRY(replace_private_file(path_, text));
  needs_rewrite_ = false;
  lines_ = files_.size();
  return {};
}

}  // namespace vesta::agent
