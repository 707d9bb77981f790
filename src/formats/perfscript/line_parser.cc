#include "formats/perfscript/line_parser.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text.h"
#include "formats/common/line_reader.h"
#include "profile/frame_name.h"

namespace vesta::perfscript {
namespace {

constexpr std::string_view kUnknown = "[unknown]";
constexpr std::string_view kRecord = "PERF_RECORD_";
// A header has a command of at most 15 bytes and a handful of fields; further words belong to the
// arguments of a tracepoint.
constexpr size_t kMaxHeaderTokens = 24;

template <class Int>
std::optional<Int> parse_whole(std::string_view text, int base = 10) {
  Int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_count(std::string_view text) {
  if (text.empty() || text.front() == '-') return std::nullopt;
  return parse_whole<int64_t>(text);
}

// "-1" is a thread that has gone.
std::optional<int64_t> parse_id(std::string_view text) {
  return text == "-1" ? -1 : parse_count(text);
}

// "1902.100282" with three to nine decimals.
std::optional<int64_t> parse_time(std::string_view text) {
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto seconds = parse_count(text.substr(0, dot));
  const std::string_view decimals = text.substr(dot + 1);
  auto fraction = parse_count(decimals);
  if (!seconds || !fraction || decimals.size() > 9 || *seconds > 9'000'000'000) return std::nullopt;
  for (size_t digits = decimals.size(); digits < 9; ++digits) *fraction *= 10;
  return *seconds * 1'000'000'000 + *fraction;
}

// "[003]"
std::optional<int64_t> parse_cpu(std::string_view text) {
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return std::nullopt;
  return parse_count(text.substr(1, text.size() - 2));
}

bool parse_pid_tid(std::string_view text, HeaderLine& header) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    header.tid = parse_id(text);  // perf prints the thread when it prints one number
    return header.tid.has_value();
  }
  const auto pid = parse_id(text.substr(0, slash));
  const auto tid = parse_id(text.substr(slash + 1));
  if (!pid || !tid) return false;
  header.pid = pid;
  header.tid = tid;
  return true;
}

bool is_event_token(std::string_view token) {
  if (token.size() < 2 || token.back() != ':') return false;
  bool has_letter = false;
  for (const char c : token) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    has_letter |= is_letter;
    if (!is_letter && !(c >= '0' && c <= '9') &&
        std::string_view("_-:/.,=@%+~\\").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return has_letter;
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> tokens;
  while (tokens.size() < kMaxHeaderTokens) {
    line = trim_left(line);
    if (line.empty()) break;
    const size_t end = std::min(line.size(), line.find_first_of(" \t"));
    tokens.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return tokens;
}

// Without a time the event is the first word that can be one, after at least one other word.
size_t find_event(const std::vector<std::string_view>& tokens, size_t from) {
  for (size_t at = from; at < tokens.size(); ++at) {
    if (is_event_token(tokens[at])) return at;
  }
  return tokens.size();
}

// Takes "(…)" off the end of `text` when it stands after a blank, and returns what is inside.
std::optional<std::string_view> take_parentheses(std::string_view& text) {
  if (text.empty() || text.back() != ')') return std::nullopt;
  int depth = 0;
  size_t open = std::string_view::npos;
  for (size_t at = text.size(); at-- > 0;) {
    if (text[at] == ')') ++depth;
    if (text[at] == '(' && --depth == 0) {
      open = at;
      break;
    }
  }
  if (open == std::string_view::npos) open = text.rfind(" (") + 1;  // unbalanced: 0 when absent
  if (text[open] != '(' || (open > 0 && text[open - 1] != ' ' && text[open - 1] != '\t')) {
    return std::nullopt;
  }
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  text = trim_right(text.substr(0, open));
  return inside;
}

std::string_view without_offset(std::string_view symbol) {
  const size_t plus = symbol.rfind("+0x");
  if (plus == std::string_view::npos || plus == 0) return symbol;
  return parse_whole<uint64_t>(symbol.substr(plus + 3), 16) ? symbol.substr(0, plus) : symbol;
}

bool says_something(const std::optional<FrameLine>& frame) {
  return frame && (!frame->symbol.empty() || !frame->dso.empty());
}

std::string_view rest_after(std::string_view line, std::string_view token) {
  return line.substr(static_cast<size_t>(token.data() + token.size() - line.data()));
}

void take_event(std::string_view line, std::string_view token, HeaderLine& header) {
  header.event = without_modifiers(token.substr(0, token.size() - 1));
  header.frame = parse_frame(rest_after(line, token));
}

// Period and event, period alone, or neither; a sample without a stack has its frame after them.
bool take_after_time(std::string_view line, const std::vector<std::string_view>& tokens,
                     size_t time_at, HeaderLine& header) {
  size_t at = time_at + 1;
  if (at < tokens.size() && (header.period = parse_count(tokens[at]))) ++at;
  if (at < tokens.size() && is_event_token(tokens[at])) {
    take_event(line, tokens[at], header);
    return !header.event.empty();
  }
  if (at == tokens.size()) return true;
  header.frame = parse_frame(rest_after(line, tokens[at - 1]));
  if (says_something(header.frame)) return true;
  // An address without letters looks like a period.
  header.period.reset();
  header.frame = parse_frame(rest_after(line, tokens[time_at]));
  return says_something(header.frame);
}

// "comm 12 [003] 1000 cycles:" has a period, "comm 12 cycles:" has none. Returns how many tokens
// are left before it.
size_t take_period(const std::vector<std::string_view>& tokens, size_t before, HeaderLine& header) {
  if (before < 3 || !parse_count(tokens[before - 1])) return before;
  HeaderLine ignored;
  if (!parse_cpu(tokens[before - 2]) && !parse_pid_tid(tokens[before - 2], ignored)) return before;
  header.period = parse_count(tokens[before - 1]);
  return before - 1;
}

// Command, process and CPU in the first `before` tokens.
void take_before(const std::vector<std::string_view>& tokens, size_t before, HeaderLine& header) {
  if (before > 0 && (header.cpu = parse_cpu(tokens[before - 1]))) --before;
  if (before > 0 && parse_pid_tid(tokens[before - 1], header)) --before;
  if (before > 0) {
    const char* end = tokens[before - 1].data() + tokens[before - 1].size();
    header.comm = std::string_view(tokens[0].data(), static_cast<size_t>(end - tokens[0].data()));
  }
}

}  // namespace

std::optional<HeaderLine> parse_header(std::string_view line) {
  HeaderLine header;
  const std::vector<std::string_view> tokens = split(line);
  size_t time_at = tokens.size();
  for (size_t at = 0; at < tokens.size(); ++at) {
    if (tokens[at].back() != ':') continue;
    header.time_ns = parse_time(tokens[at].substr(0, tokens[at].size() - 1));
    if (header.time_ns) {
      time_at = at;
      break;
    }
  }

  if (header.time_ns) {
    if (!take_after_time(line, tokens, time_at, header)) return std::nullopt;
    take_before(tokens, time_at, header);
    return header;
  }
  const size_t event_at = find_event(tokens, 1);
  if (event_at == tokens.size()) return std::nullopt;
  take_event(line, tokens[event_at], header);
  if (header.event.empty()) return std::nullopt;
  take_before(tokens, take_period(tokens, event_at, header), header);
  return header;
}

std::optional<HeaderLine> parse_bare_header(std::string_view line) {
  HeaderLine header;
  const std::vector<std::string_view> tokens = split(line);
  if (tokens.empty() || tokens.size() == kMaxHeaderTokens) return std::nullopt;
  take_before(tokens, take_period(tokens, tokens.size(), header), header);
  if (header.comm.empty() || !header.tid) return std::nullopt;
  return header;
}

std::optional<FrameLine> parse_frame(std::string_view line) {
  FrameLine frame;
  frame.text = trim(line);
  const size_t end = std::min(frame.text.size(), frame.text.find_first_of(" \t"));
  const auto address = parse_whole<uint64_t>(frame.text.substr(0, end), 16);
  if (!address || frame.text.front() == '-') return std::nullopt;
  frame.address = *address;
  std::string_view rest = trim_left(frame.text.substr(end));
  if (const auto dso = take_parentheses(rest)) {
    if (*dso == "inlined") {
      frame.is_inlined = true;
    } else if (*dso != kUnknown) {
      frame.dso = *dso;
    }
  }
  frame.symbol = without_offset(rest);
  if (frame.symbol == kUnknown) frame.symbol = {};
  return frame;
}

std::optional<SourceLine> parse_source_line(std::string_view line) {
  std::string_view text = trim(line);
  take_parentheses(text);  // "(inlined)", "(discriminator 3)"
  if (text.ends_with(']') && text.find('[') != std::string_view::npos &&
      text.find(' ') == std::string_view::npos) {
    return SourceLine{};  // "libfoo.so[1234]": perf found no line
  }
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const std::string_view number = text.substr(colon + 1);
  if (number == "?") return SourceLine{};
  const auto value = parse_count(number);
  if (!value) return std::nullopt;
  const std::string_view file = text.substr(0, colon);
  if (file == "??") return SourceLine{};
  return SourceLine{file, *value};
}

bool is_other_record(std::string_view line) {
  return line.find(kRecord) != std::string_view::npos;
}

uint64_t lost_events(std::string_view line) {
  if (line.find("PERF_RECORD_LOST") == std::string_view::npos) return 0;
  constexpr std::string_view kLost = " lost ";
  const size_t at = line.rfind(kLost);
  if (at == std::string_view::npos) return 0;
  return parse_whole<uint64_t>(trim(line.substr(at + kLost.size()))).value_or(0);
}

std::string_view without_modifiers(std::string_view event) {
  const size_t mark = event.find_last_of(":/");
  if (mark == std::string_view::npos || mark == 0) return event;
  const std::string_view modifiers = event.substr(mark + 1);
  if (modifiers.find_first_not_of("ukhGHpPSDIWebR") != std::string_view::npos) return event;
  return event[mark] == ':' ? event.substr(0, mark) : event.substr(0, mark + 1);
}

bool is_kernel_dso(std::string_view dso) {
  if (dso.starts_with('[')) {
    for (const std::string_view user : {"[vdso]", "[vdso32]", "[vdsox32]", "[vsyscall]", "[heap]",
                                        "[stack]", "[anon]", "[uprobes]", "[unknown]"}) {
      if (dso == user) return false;
    }
    return true;  // [kernel.kallsyms], [guest.kernel], [ext4]
  }
  const std::string_view name = base_name(dso);
  return name.starts_with("vmlinux") || name.ends_with(".ko") ||
         name.find(".ko.") != std::string_view::npos || dso.starts_with("bpf_prog_");
}

}  // namespace vesta::perfscript
