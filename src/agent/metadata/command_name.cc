#include "agent/metadata/command_name.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "agent/metadata/attributes.h"
#include "base/text.h"

namespace vesta::agent {
namespace {

constexpr size_t kMaxWords = 4096;
constexpr size_t kMaxNameBytes = 128;

// How an interpreter reads its command line.
struct Interpreter {
  std::string_view name;  // of the executable, without a version
  std::span<const std::string_view> extensions;
  std::span<const std::string_view> with_value;   // options whose value is the next word
  std::span<const std::string_view> inline_code;  // options that are followed by code
};

constexpr std::string_view kPythonFiles[] = {".py", ".pyc", ".pyz"};
constexpr std::string_view kPythonValues[] = {"-X", "-W", "--check-hash-based-pycs"};
constexpr std::string_view kPythonCode[] = {"-c"};
constexpr std::string_view kNodeFiles[] = {".js", ".mjs", ".cjs", ".ts"};
constexpr std::string_view kNodeValues[] = {
    "-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions"};
constexpr std::string_view kNodeCode[] = {"-e", "--eval", "-p", "--print", "-pe"};
constexpr std::string_view kRubyFiles[] = {".rb", ".ru"};
constexpr std::string_view kRubyValues[] = {"-I", "-r", "-C", "-E"};
constexpr std::string_view kRubyCode[] = {"-e"};
constexpr std::string_view kPhpFiles[] = {".php", ".phar"};
constexpr std::string_view kPhpValues[] = {"-c", "-d", "-S", "-t", "-z"};
constexpr std::string_view kPhpCode[] = {"-r", "-R", "-B", "-E"};
constexpr std::string_view kPerlFiles[] = {".pl"};
constexpr std::string_view kPerlValues[] = {"-I"};
constexpr std::string_view kPerlCode[] = {"-e", "-E"};
constexpr std::string_view kShellFiles[] = {".sh", ".bash"};
constexpr std::string_view kShellValues[] = {"-o", "+o", "-O", "+O", "--rcfile", "--init-file"};
constexpr std::string_view kShellCode[] = {"-c"};

constexpr std::array<Interpreter, 10> kInterpreters = {{
    {"python", kPythonFiles, kPythonValues, kPythonCode},
    {"pypy", kPythonFiles, kPythonValues, kPythonCode},
    {"node", kNodeFiles, kNodeValues, kNodeCode},
    {"nodejs", kNodeFiles, kNodeValues, kNodeCode},
    {"ruby", kRubyFiles, kRubyValues, kRubyCode},
    {"php", kPhpFiles, kPhpValues, kPhpCode},
    {"perl", kPerlFiles, kPerlValues, kPerlCode},
    {"bash", kShellFiles, kShellValues, kShellCode},
    {"dash", kShellFiles, kShellValues, kShellCode},
    {"sh", kShellFiles, kShellValues, kShellCode},
}};
constexpr std::string_view kJavaValues[] = {
    "-cp",           "-classpath",     "--class-path",         "-p",
    "--module-path", "--add-modules",  "--add-exports",        "--add-opens",
    "--add-reads",   "--patch-module", "--upgrade-module-path"};

bool is_one_of(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// python3.11 → python
std::string_view without_version(std::string_view name) {
  const size_t end = name.find_last_not_of("0123456789.-");
  return end == std::string_view::npos ? name : name.substr(0, end + 1);
}

const Interpreter* find_interpreter(std::string_view executable_name) {
  const std::string_view name = without_version(executable_name);
  for (const Interpreter& known : kInterpreters) {
    if (known.name == name) return &known;
  }
  return nullptr;
}

bool is_java(std::string_view executable_name) {
  return executable_name == "java";
}

// A file that is only an open descriptor: bash <(…), a here document, a script of a pipe.
bool is_descriptor(std::string_view path) {
  return path.starts_with("/dev/fd/") || path == "/dev/stdin" ||
         (path.starts_with("/proc/") && path.find("/fd/") != std::string_view::npos);
}

// The extension stays: worker.py and worker.js are two programs.
InterpretedProgram script(std::string_view word) {
  const std::string_view name = base_name(word);
  if (!is_program_name(name) || is_descriptor(word)) return {};
  return {std::string(name), std::string(word)};
}

InterpretedProgram named(std::string_view name) {
  if (!is_program_name(name)) return {};
  return {std::string(name), ""};
}

// payments-1.4.2.jar → payments: the same service in its next version.
InterpretedProgram jar(std::string_view word) {
  std::string_view name = base_name(word);
  if (!name.ends_with(".jar") && !name.ends_with(".war")) return {};
  name.remove_suffix(4);
  for (size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] == '-' && std::isdigit(static_cast<unsigned char>(name[i + 1])) != 0) {
      name = name.substr(0, i);
      break;
    }
  }
  if (!is_program_name(name)) return {};
  return {std::string(name), std::string(word)};
}

InterpretedProgram java_program(std::span<const std::string_view> words) {
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view next = i + 1 < words.size() ? words[i + 1] : "";
    if (word == "-jar") return jar(next);
    if (word == "-m" || word == "--module") return named(base_name(next));  // module/main class
    if (is_one_of(kJavaValues, word)) {
      ++i;
    } else if (!word.starts_with('-') && !word.starts_with('@')) {
      return is_program_name(word) ? named(word) : script(word);
    }
  }
  return {};
}

// "-" and a shell's -s: the program comes from standard input.
bool is_standard_input(const Interpreter& interpreter, std::string_view word) {
  const bool is_shell = interpreter.extensions.data() == kShellFiles;
  return word == "-" || (is_shell && word.size() > 1 && word[0] == '-' && word[1] != '-' &&
                         word.find('s') != std::string_view::npos);
}

InterpretedProgram script_program(const Interpreter& interpreter,
                                  std::span<const std::string_view> words) {
  bool is_certain = true;  // no option before that might have a value
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    const std::string_view next = i + 1 < words.size() ? words[i + 1] : "";
    if (is_one_of(interpreter.inline_code, word) || is_standard_input(interpreter, word)) return {};
    const bool is_python = interpreter.name == "python" || interpreter.name == "pypy";
    if (is_python && word == "-m") return named(next);
    if (interpreter.name == "php" && (word == "-f" || word == "--file")) return script(next);
    if (is_one_of(interpreter.with_value, word)) {
      ++i;
    } else if (word == "--") {
      is_certain = true;
    } else if (word.starts_with('-') || word.starts_with('+')) {
      // A bundle of letters of a shell ends with code too: "bash -lc CODE".
      const bool is_bundle = word.size() > 2 && word[1] != '-';
      if (is_bundle && word.back() == 'c' && !interpreter.inline_code.empty() &&
          interpreter.inline_code.front() == "-c") {
        return {};
      }
      if (word.starts_with("--") && word.find('=') == std::string_view::npos) is_certain = false;
    } else {
      const bool is_file = word.find('/') != std::string_view::npos ||
                           std::ranges::any_of(interpreter.extensions, [&](std::string_view end) {
                             return word.ends_with(end);
                           });
      return is_certain || is_file ? script(word) : InterpretedProgram{};
    }
  }
  return {};
}

}  // namespace

bool is_interpreter(std::string_view executable_name) {
  return is_java(executable_name) || find_interpreter(executable_name) != nullptr;
}

bool is_program_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && text != "." && text != ".." &&
         std::ranges::all_of(text, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == '+' || c == '$';
         });
}

std::vector<std::string_view> split_command_line(std::string_view command_line) {
  std::vector<std::string_view> out;
  while (!command_line.empty() && out.size() < kMaxWords) {
    const size_t end = command_line.find('\0');
    if (end == std::string_view::npos) break;  // cut off
    out.push_back(command_line.substr(0, end));
    command_line.remove_prefix(end + 1);
  }
  return out;
}

InterpretedProgram program_of_interpreter(std::string_view executable_name,
                                          std::span<const std::string_view> words) {
  if (is_java(executable_name)) return java_program(words);
  const Interpreter* const interpreter = find_interpreter(executable_name);
  return interpreter == nullptr ? InterpretedProgram{} : script_program(*interpreter, words);
}

}  // namespace vesta::agent
