// The text form of selectors: parser and printer.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "base/utf8.h"
#include "store/selector.h"

namespace vesta {
namespace {

// Expressions are compiled as they are read, so what a selector may cost is bounded here.
constexpr size_t kMaxTextBytes = size_t{64} << 10;
constexpr size_t kMaxMatchers = 128;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_plain_name(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
}
// Dots are not in Prometheus' names; labels of OpenTelemetry are full of them and nothing is
// ambiguous.
bool is_name_character(char c) {
  return is_letter(c) || is_digit(c) || c == '.';
}
bool is_type_character(char c) {
  return is_name_character(c) || c == ':' || c == '-' || c == '/' || c == '*';
}

std::string_view symbol_of(MatchOperator op) {
  switch (op) {
    case MatchOperator::kEqual:
      return "=";
    case MatchOperator::kNotEqual:
      return "!=";
    case MatchOperator::kMatches:
      return "=~";
    case MatchOperator::kNotMatches:
      return "!~";
  }
  return "=";
}

void append_utf8(std::string& out, uint32_t c) {
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

class SelectorParser {
 public:
  explicit SelectorParser(std::string_view text) : text_(text) {}

  Result<TypedSelector> parse() {
    if (text_.size() > kMaxTextBytes) {
      return Error{
          ErrorCode::kUsage,
          fmt::format("the selector has {} bytes; the limit is {}", text_.size(), kMaxTextBytes),
          ""};
    }
    TypedSelector result;
    skip_spaces();
    result.type = take_while(is_type_character);
    skip_spaces();
    if (!at_end()) {
      if (!take('{')) return unexpected("'{'");
      VESTA_TRY(parse_matchers(result));
      skip_spaces();
      if (!at_end()) {
        return fault(at_, fmt::format("{} after the end of the selector", here()),
                     peek() == '[' ? "give the time range separately" : "");
      }
    } else if (result.type.empty()) {
      return Error{ErrorCode::kUsage, "the selector is empty", "{} selects everything"};
    }
    return result;
  }

 private:
  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool take(char c) {
    if (at_end() || peek() != c) return false;
    ++at_;
    return true;
  }
  void skip_spaces() {
    while (!at_end() && is_space(peek())) ++at_;
  }
  template <class Predicate>
  std::string take_while(Predicate predicate) {
    const size_t from = at_;
    while (!at_end() && predicate(peek())) ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  // What stands at the current place, for messages.
  std::string here() const {
    if (at_end()) return "the end";
    size_t length = 1;
    while (at_ + length < text_.size() &&
           (static_cast<uint8_t>(text_[at_ + length]) & 0xC0) == 0x80) {
      ++length;
    }
    return fmt::format("'{}'", replace_invalid_utf8(text_.substr(at_, length)));
  }
  Error fault(size_t where, std::string_view what, std::string_view hint = "") const {
    const auto starts_character = [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; };
    const auto column = std::ranges::count_if(text_.substr(0, where), starts_character) + 1;
    return {ErrorCode::kUsage, fmt::format("selector, column {}: {}", column, what),
            std::string(hint)};
  }
  Error unexpected(std::string_view wanted) const {
    return fault(at_, fmt::format("expected {}, found {}", wanted, here()),
                 "use a selector such as cpu{service_name=\"checkout\", pod=~\"a.*\"}");
  }

  Status parse_matchers(TypedSelector& result) {
    skip_spaces();
    while (!take('}')) {
      VESTA_TRY(parse_matcher(result));
      skip_spaces();
      if (take('}')) break;
      if (!take(',')) return unexpected("',' or '}'");
      skip_spaces();
    }
    return {};
  }

  Status parse_matcher(TypedSelector& result) {
    const size_t start = at_;
    std::string name;
    if (is_quote(peek())) {
      VESTA_ASSIGN(name, parse_string());
      skip_spaces();
      // As Prometheus writes a metric whose name needs quotes.
      if (peek() == ',' || peek() == '}') {
        if (!result.type.empty()) return fault(start, "the type is given twice");
        if (name.empty()) return fault(start, "the type is empty");
        result.type = std::move(name);
        return {};
      }
    } else {
      if (!is_letter(peek())) return unexpected("the name of a label");
      name = take_while(is_name_character);
      skip_spaces();
    }
    if (name.empty()) return fault(start, "the name of a label is empty");
    const auto op = take_operator();
    if (!op) return unexpected("one of = != =~ !~");
    skip_spaces();
    const size_t value_at = at_;
    if (!is_quote(peek())) return unexpected("a value in quotes");
    VESTA_ASSIGN(std::string value, parse_string());
    if (result.selector.size() == kMaxMatchers) {
      return fault(start, fmt::format("more than {} matchers", kMaxMatchers));
    }
    auto matcher = LabelMatcher::make(std::move(name), *op, std::move(value));
    if (!matcher) return fault(value_at, matcher.error().message, matcher.error().hint);
    result.selector.push_back(std::move(*matcher));
    return {};
  }

  std::optional<MatchOperator> take_operator() {
    const std::string_view two = text_.substr(at_, 2);
    at_ += 2;
    if (two == "=~") return MatchOperator::kMatches;
    if (two == "!~") return MatchOperator::kNotMatches;
    if (two == "!=") return MatchOperator::kNotEqual;
    at_ -= 2;
    if (take('=')) return MatchOperator::kEqual;
    return std::nullopt;
  }

  static bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }

  // REQUIRES: at a quote
  Result<std::string> parse_string() {
    const size_t start = at_;
    const char quote = text_[at_++];
    std::string out;
    while (true) {
      if (at_end() || (quote != '`' && peek() == '\n')) {
        return fault(start, "unterminated string");
      }
      const char c = text_[at_++];
      if (c == quote) return out;
      if (c != '\\' || quote == '`') {
        out.push_back(c);
      } else {
        VESTA_TRY(parse_escape(quote, out));
      }
    }
  }

  // The escapes of Go, which Prometheus has.
  Status parse_escape(char quote, std::string& out) {
    const size_t start = at_ - 1;
    const char c = at_end() ? '\0' : text_[at_++];
    constexpr std::string_view kLetters = "abfnrtv\\";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\";
    if (const size_t which = kLetters.find(c); c != '\0' && which != std::string_view::npos) {
      out.push_back(kMeanings[which]);
      return {};
    }
    if (c == quote) {
      out.push_back(c);
      return {};
    }
    const Error bad = fault(start, "unknown escape sequence",
                            "use \\\\ for a backslash, or put the string in `backticks`");
    std::optional<uint32_t> number;
    if (c >= '0' && c <= '7') {
      --at_;
      number = take_number(8, 3);
    } else if (c == 'x') {
      number = take_number(16, 2);
    } else if (c == 'u' || c == 'U') {
      number = take_number(16, c == 'u' ? 4 : 8);
      if (!number || *number > 0x10FFFF || (*number >= 0xD800 && *number < 0xE000)) return bad;
      append_utf8(out, *number);
      return {};
    }
    if (!number || *number > 0xFF) return bad;
    out.push_back(static_cast<char>(*number));
    return {};
  }

  std::optional<uint32_t> take_number(uint32_t base, size_t digits) {
    uint32_t number = 0;
    for (size_t i = 0; i < digits; ++i, ++at_) {
      const char c = peek();
      uint32_t digit = base;
      if (is_digit(c)) digit = static_cast<uint32_t>(c - '0');
      if (c >= 'a' && c <= 'f') digit = static_cast<uint32_t>(c - 'a') + 10;
      if (c >= 'A' && c <= 'F') digit = static_cast<uint32_t>(c - 'A') + 10;
      if (digit >= base) return std::nullopt;
      number = number * base + digit;
    }
    return number;
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::string quoted(std::string_view text) {
  const bool is_text = is_valid_utf8(text);
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !is_text)) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

}  // namespace

Result<TypedSelector> parse_selector(std::string_view text) {
  return SelectorParser(text).parse();
}

std::string to_string(const Selector& selector) {
  std::string out = "{";
  for (const LabelMatcher& matcher : selector) {
    if (out.size() > 1) out += ", ";
    out += is_plain_name(matcher.name()) ? matcher.name() : quoted(matcher.name());
    out += symbol_of(matcher.op());
    out += quoted(matcher.value());
  }
  out.push_back('}');
  return out;
}

}  // namespace vesta
