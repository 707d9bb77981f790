#include "demangle/short_name.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace vesta {
namespace {

constexpr std::string_view kShortArguments = "<…>";

bool is_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Longest first, so that the first match is the right one.
constexpr std::array<std::string_view, 44> kOperators = {
    "<=>", "<<=", ">>=", "->*", "()", "[]", "->", "<<",   ">>",     "<=",        ">=",
    "==",  "!=",  "&&",  "||",  "++", "--", "+=", "-=",   "*=",     "/=",        "%=",
    "^=",  "&=",  "|=",  "<",   ">",  "+",  "-",  "*",    "/",      "%",         "^",
    "&",   "|",   "~",   "!",   "=",  ",",  "?",  "\"\"", " new[]", " delete[]", " co_await"};

constexpr std::string_view kOperatorWord = "operator";

// Bytes of "operator<<" and the like at `at`, 0 when no operator with a symbol begins there.
// Conversions ("operator bool") and " new" are words and need no care.
size_t operator_bytes(std::string_view text, size_t at) {
  if (text.compare(at, kOperatorWord.size(), kOperatorWord) != 0) return 0;
  if (at > 0 && is_identifier(text[at - 1])) return 0;
  const std::string_view rest = text.substr(at + kOperatorWord.size());
  for (const std::string_view symbol : kOperators) {
    if (rest.starts_with(symbol)) return kOperatorWord.size() + symbol.size();
  }
  return 0;
}

// The offset after the bracket that closes the one at `at`; the end when none does. A '>' counts
// only where no parenthesis is open inside: libiberty puts comparisons into parentheses.
size_t after_bracket(std::string_view text, size_t at) {
  std::string open;
  while (at < text.size()) {
    if (const size_t bytes = operator_bytes(text, at); bytes > 0) {
      at += bytes;
      continue;
    }
    const char c = text[at++];
    switch (c) {
      case '(':
      case '[':
      case '{':
        open.push_back(c);
        break;
      case '<':
        // In parentheses and not after a name it is a comparison or a shift.
        if (open.empty() || open.back() != '(' || (at >= 2 && is_identifier(text[at - 2]))) {
          open.push_back(c);
        }
        break;
      case '>':
        if (!open.empty() && open.back() == '<') open.pop_back();
        break;
      case ')':
      case ']':
      case '}': {
        const char opener = c == ')' ? '(' : c == ']' ? '[' : '{';
        const size_t found = open.rfind(opener);
        if (found != std::string::npos) open.resize(found);
        break;
      }
      case '-':
        if (at < text.size() && text[at] == '>') ++at;
        break;
      default:
        break;
    }
    if (open.empty()) break;
  }
  return at;
}

// What may stand between a parameter list and the next "::".
size_t after_qualifiers(std::string_view text, size_t at) {
  constexpr std::array<std::string_view, 7> kQualifiers = {" const", " volatile", " &&",      " &",
                                                           "&&",     "&",         " noexcept"};
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view word : kQualifiers) {
      if (text.compare(at, word.size(), word) == 0) {
        at += word.size();
        found = true;
        break;
      }
    }
  }
  return at;
}

// Copies "{lambda(int)#2}" as "{lambda()#2}", other braces as they are.
size_t copy_braces(std::string_view text, size_t at, std::string& out) {
  constexpr std::string_view kLambda = "{lambda";
  const size_t end = after_bracket(text, at);
  const std::string_view group = text.substr(at, end - at);
  const size_t number = group.rfind(")#");
  if (group.starts_with(kLambda) && number != std::string_view::npos) {
    out.append("{lambda()").append(group.substr(number + 1));
  } else {
    out.append(group);
  }
  return end;
}

struct CompilerSuffix {
  std::string_view name;
  bool needs_number;
};
// GCC's and LLVM's. Those that also could be a Go or a D identifier count only with their number.
constexpr std::array<CompilerSuffix, 9> kCompilerSuffixes = {{{".constprop", true},
                                                              {".isra", true},
                                                              {".part", true},
                                                              {".lto_priv", true},
                                                              {".localalias", false},
                                                              {".llvm", true},
                                                              {".cold", false},
                                                              {".clone", true},
                                                              {".warm", true}}};

// Bytes of one known suffix at the beginning of `text`.
size_t suffix_bytes(std::string_view text) {
  for (const CompilerSuffix& suffix : kCompilerSuffixes) {
    if (!text.starts_with(suffix.name)) continue;
    size_t at = suffix.name.size();
    if (at < text.size() && text[at] == '.') {
      size_t digits = at + 1;
      while (digits < text.size() && is_digit(text[digits])) ++digits;
      if (digits > at + 1) at = digits;
    }
    const bool has_number = at > suffix.name.size();
    if (suffix.needs_number && !has_number) continue;
    if (at == text.size() || text[at] == '.') return at;
  }
  return 0;
}

}  // namespace

size_t compiler_suffix_offset(std::string_view linkage_name) {
  // Only a run of suffixes up to the end counts: the dots of "main.part.0.func1" are the name's.
  size_t from = linkage_name.find('.', 1);
  while (from != std::string_view::npos) {
    size_t at = from;
    while (at < linkage_name.size()) {
      const size_t bytes = suffix_bytes(linkage_name.substr(at));
      if (bytes == 0) break;
      at += bytes;
    }
    if (at == linkage_name.size()) return from;
    from = linkage_name.find('.', at + 1);
  }
  return linkage_name.size();
}

std::string shorten_cpp_name(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  constexpr std::string_view kTag = "[abi:";
  std::string out;
  out.reserve(std::min<size_t>(name.size(), 256));
  size_t at = 0;
  while (at < name.size()) {
    if (const size_t bytes = operator_bytes(name, at); bytes > 0) {
      out.append(name.substr(at, bytes));
      at += bytes;
      // "operator< <int>": the space keeps it from looking like operator<<.
      if (name.compare(at, 2, " <") == 0) {
        at = after_bracket(name, at + 1);
        out.append(" ").append(kShortArguments);
      }
      continue;
    }
    const char c = name[at];
    if (c == '<') {
      at = after_bracket(name, at);
      // A conversion operator that is a template has two lists of arguments.
      if (!out.ends_with(kShortArguments)) out.append(kShortArguments);
    } else if (c == '(') {
      const bool anonymous = name.compare(at, kAnonymous.size(), kAnonymous) == 0;
      if (anonymous) out.append(kAnonymous);
      at = anonymous ? at + kAnonymous.size() : after_qualifiers(name, after_bracket(name, at));
    } else if (c == '{') {
      at = copy_braces(name, at, out);
    } else if (c == '[' && name.compare(at, kTag.size(), kTag) == 0) {
      at = after_bracket(name, at);
    } else {
      out.push_back(c);
      ++at;
    }
  }
  return out;
}

std::string shorten_rust_name(std::string_view name) {
  std::string out;
  out.reserve(std::min<size_t>(name.size(), 256));
  size_t at = 0;
  while (at < name.size()) {
    const char c = name[at];
    // After a path come generic arguments; anywhere else it is the "<T as Trait>" of a path.
    const bool generic =
        c == '<' && !out.empty() && (is_identifier(out.back()) || out.back() == ':');
    if (generic) {
      at = after_bracket(name, at);
      out.append(kShortArguments);
    } else if (name.compare(at, 2, "->") == 0) {
      out.append("->");
      at += 2;
    } else {
      out.push_back(c);
      ++at;
    }
  }
  return out;
}

}  // namespace vesta
