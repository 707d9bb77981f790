#include "agent/metadata/command_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <vector>

#include "agent/metadata/attributes.h"

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

bool contains(std::span<const std::string_view> words, std::string_view word) {
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

std::vector<std::string_view> words_of(std::string_view command_line) {
  std::vector<std::string_view> out;
  while (!command_line.empty() && out.size() < kMaxWords) {
    const size_t end = command_line.find('\0');
    if (end == std::string_view::npos) break;  // cut off
    out.push_back(command_line.substr(0, end));
    command_line.remove_prefix(end + 1);
  }
  return out;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes && text != "." && text != ".." &&
         std::ranges::all_of(text, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-' || c == '+' || c == '$';
         });
}

// As a file name would be: without the folder and what tells the language.
std::string script_name(std::string_view word, std::span<const std::string_view> extensions) {
  std::string_view name = base_name(word);
  for (const std::string_view extension : extensions) {
    if (name.size() > extension.size() && name.ends_with(extension)) {
      name.remove_suffix(extension.size());
      break;
    }
  }
  return is_name(name) ? std::string(name) : "";
}

// payments-1.4.2.jar → payments: the same service in its next version.
std::string jar_name(std::string_view word) {
  std::string_view name = base_name(word);
  if (!name.ends_with(".jar") && !name.ends_with(".war")) return "";
  name.remove_suffix(4);
  for (size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] == '-' && std::isdigit(static_cast<unsigned char>(name[i + 1])) != 0) {
      name = name.substr(0, i);
      break;
    }
  }
  return is_name(name) ? std::string(name) : "";
}

std::string java_program(std::span<const std::string_view> words) {
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "-jar") return i + 1 < words.size() ? jar_name(words[i + 1]) : "";
    if (word == "-m" || word == "--module") {  // module/main class
      return i + 1 < words.size() && is_name(base_name(words[i + 1]))
                 ? std::string(base_name(words[i + 1]))
                 : "";
    }
    if (contains(kJavaValues, word)) {
      ++i;
    } else if (!word.starts_with('-') && !word.starts_with('@')) {
      return is_name(word) ? std::string(word) : script_name(word, {});
    }
  }
  return "";
}

std::string script_program(const Interpreter& interpreter,
                           std::span<const std::string_view> words) {
  bool is_certain = true;  // no option before that might have a value
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (contains(interpreter.inline_code, word)) return "";
    const bool is_python = interpreter.name == "python" || interpreter.name == "pypy";
    if (is_python && word == "-m")
      return i + 1 < words.size() && is_name(words[i + 1]) ? std::string(words[i + 1]) : "";
    if (interpreter.name == "php" && (word == "-f" || word == "--file"))
      return i + 1 < words.size() ? script_name(words[i + 1], interpreter.extensions) : "";
    if (contains(interpreter.with_value, word)) {
      ++i;
    } else if (word == "--") {
      is_certain = true;
    } else if (word.starts_with('-') || word.starts_with('+')) {
      // A bundle of letters of a shell ends with code too: "bash -lc CODE".
      const bool is_bundle = word.size() > 2 && word[1] != '-';
      if (is_bundle && word.back() == 'c' && !interpreter.inline_code.empty() &&
          interpreter.inline_code.front() == "-c") {
        return "";
      }
      if (word.starts_with("--") && word.find('=') == std::string_view::npos) is_certain = false;
    } else {
      const bool is_file = word.find('/') != std::string_view::npos ||
                           std::ranges::any_of(interpreter.extensions, [&](std::string_view end) {
                             return word.ends_with(end);
                           });
      return is_certain || is_file ? script_name(word, interpreter.extensions) : "";
    }
  }
  return "";
}

}  // namespace

bool is_interpreter(std::string_view executable_name) {
  return is_java(executable_name) || find_interpreter(executable_name) != nullptr;
}

std::string program_of_interpreter(std::string_view executable_name,
                                   std::string_view command_line) {
  const Interpreter* const interpreter = find_interpreter(executable_name);
  if (interpreter == nullptr && !is_java(executable_name)) return "";
  const std::vector<std::string_view> words = words_of(command_line);
  return interpreter == nullptr ? java_program(words) : script_program(*interpreter, words);
}

}  // namespace vesta::agent
