#include "judged_programs.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

namespace vesta::agent {
namespace {

constexpr std::string_view kPython = R"(
import json, re, zlib
words = [str(i * 7919 % 1009) for i in range(400)]
class Node:
  def __init__(self, n): self.n = n
  def __lt__(self, other): return self.n < other.n
def deep(n): return deep(n - 1) + 1 if n else len(sorted(Node(int(w)) for w in words))
while True:
  deep(30)
  json.loads(json.dumps({w: [w, 1.5, None] for w in words}, indent=1))
  re.sub(r'(\d)(\d*)', lambda m: m.group(2) + m.group(1), ' '.join(words))
  sorted(words, key=lambda w: w[::-1])
  zlib.compress(' '.join(words).encode())
)";

constexpr std::string_view kPerl = R"(
sub deep { my $n = shift; return $n ? deep($n - 1) + 1 : scalar(grep { /7.*3/ } map { $_ * 7919 } 1..200) }
while (1) {
  my %h;
  deep(20);
  $h{$_ % 97} .= "$_ " for 1..1000;
  my $s = join(",", sort { $h{$a} cmp $h{$b} } keys %h);
  $s =~ s/(\d+)/sprintf("%x", $1)/ge;
}
)";

std::vector<std::string> if_there(std::vector<std::string> arguments) {
  if (::access(arguments.front().c_str(), X_OK) != 0) arguments.clear();
  return arguments;
}

// The words of a line as clang -### prints them: each in quotes, with \ before quotes and \.
std::vector<std::string> quoted_words(std::string_view line) {
  std::vector<std::string> words;
  bool is_inside = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      is_inside = !is_inside;
      if (is_inside) words.emplace_back();
    } else if (is_inside) {
      if (line[i] == '\\' && i + 1 < line.size()) ++i;
      words.back() += line[i];
    }
  }
  return words;
}

// The compiler proper, as the driver would call it: the driver itself only waits.
std::vector<std::string> clang_cc1() {
  const std::string command =
      "clang++ -### -std=c++20 -O2 -c '" VESTA_UNWIND_VICTIM_SOURCE "' -o /dev/null 2>&1";
  // NOLINTNEXTLINE(cert-env33-c): a fixed command of a test.
  FILE* pipe = ::popen(command.c_str(), "re");
  if (pipe == nullptr) return {};
  std::string text;
  for (int byte = std::fgetc(pipe); byte != EOF; byte = std::fgetc(pipe))
    text += static_cast<char>(byte);
  ::pclose(pipe);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::vector<std::string> words = quoted_words(std::string_view(text).substr(at, end - at));
    if (words.size() > 1 && words[1] == "-cc1") return if_there(std::move(words));
    at = end + 1;
  }
  return {};
}

}  // namespace

std::vector<JudgedProgram> judged_programs() {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  return {
      {"python3", if_there({"/usr/bin/python3", "-c", std::string(kPython)})},
      {"perl", if_there({"/usr/bin/perl", "-e", std::string(kPerl)})},
      {"xz", if_there({"/usr/bin/xz", "-T1", "-6", "-c", self}), 8},
      {"openssl rsa", if_there({"/usr/bin/openssl", "speed", "-seconds", "60", "rsa2048"})},
      {"openssl ec", if_there({"/usr/bin/openssl", "speed", "-seconds", "60", "ecdsap384"})},
      {"clang -cc1", clang_cc1(), 8},
      {"victim", {VESTA_UNWIND_VICTIM, "--count", "100000000", "--seed", "5"}},
  };
}

}  // namespace vesta::agent
