#include "agent/metadata/program_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <vector>

#include "agent/metadata/attributes.h"
#include "agent/metadata/command_name.h"
#include "base/text.h"

namespace vesta::agent {
namespace {

constexpr size_t kThreadNameBytes = 15;
constexpr size_t kMaxFolders = 64;  // of a path; the innermost count

// Executables that are many programs, and do the work of the one whose name comes next.
constexpr std::array<std::string_view, 3> kMultiCall = {"busybox", "toybox", "coreutils"};

// Names that many programs have: without what tells the language, in small letters.
constexpr std::array<std::string_view, 26> kGenericNames = {
    "__init__",   "__main__", "a.out",   "app",     "application",
    "asgi",       "boot",     "cli",     "daemon",  "docker-entrypoint",
    "entrypoint", "exec",     "index",   "init",    "launch",
    "main",       "manage",   "program", "run",     "runner",
    "script",     "serve",    "server",  "service", "start",
    "wsgi"};
// Folders whose names say as little.
constexpr std::array<std::string_view, 47> kGenericFolders = {
    "app",     "application", "apps",          "bin",     "build",        "classes",
    "cmd",     "code",        "current",       "debug",   "dist",         "dist-packages",
    "exe",     "home",        "html",          "java",    "lib",          "lib64",
    "libexec", "libs",        "local",         "main",    "node_modules", "opt",
    "out",     "proc",        "public",        "release", "releases",     "resources",
    "root",    "run",         "sbin",          "script",  "scripts",      "server",
    "service", "shared",      "site-packages", "source",  "src",          "srv",
    "target",  "tmp",         "usr",           "var",     "www"};

bool contains(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string in_small_letters(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool is_generic_name(std::string_view name) {
  const std::string small = in_small_letters(name);
  const size_t dot = small.rfind('.');
  return contains(kGenericNames, small) ||
         (dot != std::string::npos && dot > 0 &&
          contains(kGenericNames, std::string_view(small).substr(0, dot)));
}

// Hidden folders, versions, dates and hashes say as little as "src" does.
bool is_generic_folder(std::string_view name) {
  const std::string small = in_small_letters(name);
  const auto is_number_or_hash = [](unsigned char c) {
    return std::isxdigit(c) != 0 || c == '.' || c == '-' || c == '_';
  };
  const bool has_digit =
      std::ranges::any_of(small, [](unsigned char c) { return std::isdigit(c) != 0; });
  std::string_view number = small;
  if (number.starts_with('v') || number.starts_with('b')) number.remove_prefix(1);
  return small.starts_with('.') || small.starts_with("go-build") ||
         contains(kGenericFolders, small) ||
         (has_digit && std::ranges::all_of(number, is_number_or_hash));
}

// The folders of an absolute or relative path, outermost first, without the file.
void add_folders(std::string_view path, std::vector<std::string_view>& out) {
  while (true) {
    const size_t slash = path.find('/');
    if (slash == std::string_view::npos) return;
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(slash + 1);
    if (part == "..") {
      if (!out.empty()) out.pop_back();
    } else if (!part.empty() && part != ".") {
      if (out.size() == kMaxFolders) out.erase(out.begin());
      out.push_back(part);
    }
  }
}

// shop/main.py for main.py of /srv/shop/src. `path` is empty when the program is looked up from
// the working folder.
std::string with_folder(std::string name, std::string_view path, const ProgramStart& start) {
  if (!is_generic_name(name)) return name;
  std::vector<std::string_view> folders;
  std::string working;
  if (!path.starts_with('/') && start.working_folder) {
    working = start.working_folder() + "/";
    add_folders(working, folders);
  }
  add_folders(path, folders);
  for (size_t i = folders.size(); i-- > 0;) {
    if (is_program_name(folders[i]) && !is_generic_folder(folders[i]))
      return std::string(folders[i]) + "/" + name;
  }
  return name;
}

std::string_view cut_thread_name(std::string_view name) {
  return name.substr(0, kThreadNameBytes);
}

// The program's own title is in place of the words of its command line: "gunicorn: master [shop]",
// "/usr/bin/redis-server *:6379".
std::string_view first_of_title(std::string_view word) {
  return base_name(word.substr(0, word.find_first_of(" :")));
}

// The name that was started, when that is not the file's: of a link to it, or of an applet. Both
// the command line and the name of the first thread have to say so, since either may be anything.
std::string_view started_as(std::string_view file, const ProgramStart& start,
                            std::span<const std::string_view> words) {
  if (words.empty()) return contains(kMultiCall, file) ? start.thread_name : file;
  const std::string_view first = first_of_title(words.front());
  const std::string_view thread = first_of_title(start.thread_name);
  return is_program_name(first) && cut_thread_name(first) == thread ? first : file;
}

}  // namespace

bool needs_command_line(std::string_view executable, std::string_view thread_name) {
  const std::string_view file = base_name(executable);
  return !file.empty() && (is_interpreter(file) || contains(kMultiCall, file) ||
                           cut_thread_name(file) != cut_thread_name(thread_name));
}

std::string program_name(const ProgramStart& start) {
  const std::string_view file = base_name(start.executable);
  if (file.empty()) return "";
  const std::vector<std::string_view> all = split_command_line(start.command_line);
  std::span<const std::string_view> words = all;
  std::string_view name = started_as(file, start, words);
  // "busybox httpd -f" is httpd.
  if (contains(kMultiCall, name) && words.size() > 1 && is_program_name(base_name(words[1])) &&
      !words[1].starts_with('-')) {
    words = words.subspan(1);
    name = base_name(words.front());
  }
  if (is_interpreter(name) || (is_interpreter(file) && name == file)) {
    InterpretedProgram program = program_of_interpreter(name, words);
    if (!program.name.empty()) return with_folder(std::move(program.name), program.path, start);
    // A title that an interpreted program gave itself.
    if (words.size() == 1 && words.front().find(' ') != std::string_view::npos) {
      const std::string_view title = first_of_title(words.front());
      if (is_program_name(title)) name = title;
    }
    return std::string(name);
  }
  return name == file ? with_folder(std::string(name), start.executable, start) : std::string(name);
}

}  // namespace vesta::agent
