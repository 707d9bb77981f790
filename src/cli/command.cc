#include "cli/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "base/suggest.h"
#include "base/units.h"
#include "cli/pprof_flags.h"

namespace vesta::cli {
namespace {

Error usage_error(const Command& command, std::string message, std::string hint = {}) {
  if (hint.empty()) hint = fmt::format("try vesta {} --help", command.name);
  return {ErrorCode::kUsage, std::move(message), std::move(hint)};
}

const Flag* find_flag(const Command& command, std::string_view name) {
  const auto it =
      std::ranges::find_if(command.flags, [&](const Flag& f) { return f.name == name; });
  return it == command.flags.end() ? nullptr : &*it;
}

const Flag* find_flag(const Command& command, char letter) {
  const auto it = std::ranges::find_if(
      command.flags, [&](const Flag& f) { return f.letter != 0 && f.letter == letter; });
  return it == command.flags.end() ? nullptr : &*it;
}

// Flags that had other names, and what they are called now. A name may have become several.
constexpr auto kRenamed =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"to", "format"},
                                                                  {"to", "endpoint"},
                                                                  {"to-format", "format"},
                                                                  {"unit", "systemd-unit"},
                                                                  {"frequency", "rate"},
                                                                  {"duration", "window"},
                                                                  {"t", "tid"},
                                                                  {"c", "cum"},
                                                                  {"i", "inverted"}});

Error unknown_flag(const Command& command, std::string_view word) {
  const std::string message =
      fmt::format("{}: unknown flag {}{}", command.name, word.size() == 1 ? "-" : "--", word);
  if (const std::string_view place = place_of_pprof_flag(word); !place.empty())
    return usage_error(command, message, std::string(place));
  for (const auto& [old_name, name] : kRenamed) {
    if (word == old_name && find_flag(command, name) != nullptr)
      return usage_error(command, message, fmt::format("did you mean --{}?", name));
  }
  std::vector<std::string> names;
  for (const Flag& flag : command.flags) names.push_back(flag.name);
  const std::string near = nearest(word, names);
  if (!near.empty()) return usage_error(command, message, fmt::format("did you mean --{}?", near));
  const Flag* const letter = find_flag(command, word.empty() ? '\0' : word[0]);
  if (letter == nullptr || letter->value.empty()) return usage_error(command, message);
  return usage_error(
      command, message,
      fmt::format("did you mean -{} {}? put a space before the value", word[0], word.substr(1)));
}

Status check_choice(const Command& command, const Flag& flag, const std::string& value) {
  if (flag.choices.empty() || flag.is_list ||
      std::ranges::find(flag.choices, value) != flag.choices.end())
    return {};
  const std::string near = nearest(value, flag.choices);
  return usage_error(
      command, fmt::format("--{} cannot be '{}'", flag.name, value),
      fmt::format("{}use one of: {}", near.empty() ? "" : fmt::format("did you mean {}? ", near),
                  fmt::join(flag.choices, ", ")));
}

std::string flag_words(const Flag& flag) {
  std::string out = flag.letter != 0 ? fmt::format("-{}, --{}", flag.letter, flag.name)
                                     : fmt::format("    --{}", flag.name);
  if (!flag.value.empty()) out += " " + flag.value;
  return out;
}

// Breaks at spaces so that help fits a terminal of 100 columns.
std::string wrapped(std::string_view text, size_t indent) {
  constexpr size_t kWidth = 100;
  std::string out;
  size_t column = indent;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    if (column > indent && column + 1 + word.size() > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    if (space == std::string_view::npos) break;
    text.remove_prefix(space + 1);
  }
  return out;
}

}  // namespace

std::string Arguments::get(const std::string& flag, const std::string& fallback) const {
  const auto it = values_.find(flag);
  return it == values_.end() ? fallback : it->second.back();
}

std::vector<std::string> Arguments::all(const std::string& flag) const {
  const auto it = values_.find(flag);
  return it == values_.end() ? std::vector<std::string>() : it->second;
}

std::vector<std::string> Arguments::list(const std::string& flag) const {
  std::vector<std::string> words;
  for (const std::string& value : all(flag)) {
    size_t begin = 0;
    for (size_t comma = value.find(','); comma != std::string::npos;
         comma = value.find(',', begin)) {
      words.push_back(value.substr(begin, comma - begin));
      begin = comma + 1;
    }
    words.push_back(value.substr(begin));
  }
  return words;
}

Result<int64_t> Arguments::integer(const std::string& flag, int64_t fallback, int64_t low,
                                   int64_t high) const {
  const auto it = values_.find(flag);
  if (it == values_.end()) return fallback;
  int64_t value = 0;
  const std::string& text = it->second.back();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    return Error{ErrorCode::kUsage, fmt::format("--{} cannot be '{}'", flag, text),
                 fmt::format("use a whole number from {} to {}", low, high)};
  }
  return value;
}

Result<uint64_t> Arguments::bytes(const std::string& flag, uint64_t fallback) const {
  const auto it = values_.find(flag);
  if (it == values_.end()) return fallback;
  if (const auto value = parse_bytes(it->second.back())) return *value;
  return Error{ErrorCode::kUsage, fmt::format("--{} cannot be '{}'", flag, it->second.back()),
               "use a size such as 512MB or 4GiB"};
}

namespace {

// A flag as it was typed.
struct TypedFlag {
  const Flag* flag = nullptr;
  std::optional<std::string> value;
};

Result<TypedFlag> find_typed(const Command& command, const std::string& word) {
  TypedFlag out;
  const bool long_form = word.starts_with("--");
  std::string name = word.substr(long_form ? 2 : 1);
  if (const size_t equals = name.find('='); equals != std::string::npos) {
    out.value = name.substr(equals + 1);
    name.resize(equals);
  }
  if (!long_form && name.size() == 1) {
    out.flag = find_flag(command, name[0]);
    if (out.flag == nullptr) return unknown_flag(command, name);
    return out;
  }
  out.flag = find_flag(command, name);
  if (out.flag != nullptr) return out;
  std::string dashed = name;
  std::ranges::replace(dashed, '_', '-');
  out.flag = find_flag(command, dashed);
  if (out.flag != nullptr) return out;
  if (const PprofFlag* const other = find_pprof_flag(dashed)) {
    out.flag = find_flag(command, other->flag);
    if (out.flag != nullptr) {
      VESTA_TRY(translate(*other, out.value));
      return out;
    }
  }
  if (long_form) return unknown_flag(command, name);
  // A letter with its value: -n7, -o/tmp/x.svg, -ojson.
  out.flag = find_flag(command, word[1]);
  if (out.flag != nullptr && !out.flag->value.empty()) {
    std::string rest = word.substr(2);
    const bool is_choice = std::ranges::find(out.flag->choices, rest) != out.flag->choices.end();
    if (is_choice || std::isalpha(static_cast<unsigned char>(rest[0])) == 0) {
      out.value = std::move(rest);
      return out;
    }
  }
  return unknown_flag(command, name);
}

// pprof's switches may be given as -cum=true.
Result<bool> switch_value(const Command& command, const Flag& flag, const std::string& text) {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return usage_error(command, fmt::format("--{} takes no value", flag.name));
}

}  // namespace

Result<Arguments> parse_arguments(const Command& command, const std::vector<std::string>& words) {
  Arguments out;
  bool only_positional = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (only_positional || word == "-" || !word.starts_with('-')) {
      out.positional.push_back(word);
      if (!only_positional) ++out.words_before_dashes;
      continue;
    }
    if (word == "--") {
      only_positional = true;
      continue;
    }
    VESTA_ASSIGN(TypedFlag typed, find_typed(command, word));
    const Flag* const flag = typed.flag;
    std::optional<std::string> value = std::move(typed.value);
    if (flag->value.empty()) {
      VESTA_ASSIGN(const bool on, switch_value(command, *flag, value.value_or("true")));
      if (on) {
        out.set(flag->name, "");
      } else {
        out.unset(flag->name);
      }
      continue;
    }
    if (!value) {
      if (i + 1 >= words.size())
        return usage_error(command, fmt::format("--{} needs a value: {}", flag->name, flag->value));
      value = words[++i];
    }
    VESTA_TRY(check_choice(command, *flag, *value));
    if (flag->repeats) {
      out.add(flag->name, *value);
    } else {
      out.set(flag->name, *value);
    }
  }
  if (!out.has("help") && out.positional.size() < command.min_arguments) {
    return usage_error(command, fmt::format("{} needs {}", command.name, command.arguments));
  }
  if (out.positional.size() > command.max_arguments) {
    return usage_error(command, fmt::format("{}: unexpected argument '{}'", command.name,
                                            out.positional[command.max_arguments]));
  }
  return out;
}

std::string description_of(const Command& command) {
  if (command.arguments.find("SOURCE") == std::string::npos) return command.description;
  const bool takes_selectors = find_flag(command, "server") != nullptr;
  return fmt::format(
      "SOURCE is a file in any format that Vesta reads, - for standard input, {}.{}{}",
      takes_selectors ? "a URL that serves pprof, or a selector of a server's data such as "
                        "'cpu{service_name=\"checkout\"}'"
                      : "or a URL that serves pprof",
      command.description.empty() ? "" : " ", command.description);
}

std::string help_text(const Command& command, const TextStyle& style) {
  std::string out =
      fmt::format("{} vesta {}{}{}\n\n{}\n", style.bold("Usage:"), command.name,
                  command.arguments.empty() ? "" : " " + command.arguments,
                  command.flags.empty() ? "" : " [FLAGS]", wrapped(command.summary, 0));
  const std::string description = description_of(command);
  if (!description.empty()) out += "\n" + wrapped(description, 0) + "\n";
  if (!command.examples.empty()) {
    out += "\n" + style.bold("Examples:") + "\n";
    for (const std::string& example : command.examples) {
      const size_t hash = example.find("  # ");
      out += "  " + example.substr(0, hash) +
             (hash == std::string::npos ? "" : style.dim(example.substr(hash))) + "\n";
    }
  }
  if (!command.flags.empty()) {
    out += "\n" + style.bold("Flags:") + "\n";
    size_t width = 0;
    for (const Flag& flag : command.flags) width = std::max(width, flag_words(flag).size());
    for (const Flag& flag : command.flags) {
      std::string help = flag.help;
      if (flag.repeats) help += "; may repeat";
      if (!flag.choices.empty()) help += fmt::format(" ({})", fmt::join(flag.choices, ", "));
      out += fmt::format("  {:<{}}  {}\n", flag_words(flag), width, wrapped(help, width + 4));
    }
  }
  return out;
}

std::string overview_text(const std::vector<Command>& commands, const TextStyle& style) {
  std::string out = fmt::format(
      "Vesta shows which code uses CPU time, memory and locks.\n\n{} vesta COMMAND [ARGUMENTS] "
      "[FLAGS]\n\n{}\n",
      style.bold("Usage:"), style.bold("Commands:"));
  size_t width = 0;
  for (const Command& command : commands) width = std::max(width, command.name.size());
  for (const Command& command : commands) {
    out += fmt::format("  {}{}  {}\n", style.bold(command.name),
                       std::string(width - command.name.size(), ' '), command.summary);
  }
  out += fmt::format(
      "\n{}\n  vesta top cpu.pb.gz                         {}\n  vesta top "
      "http://localhost:6060/debug/pprof/profile?seconds=5\n  vesta flame recording.jfr --type "
      "alloc\n  vesta diff before.pb.gz after.pb.gz -o diff.svg\n  vesta convert perf.txt -o "
      "perf.html\n\nvesta COMMAND --help lists the flags of a command.\n",
      style.bold("Examples:"), style.dim("# the hottest functions"));
  return out;
}

}  // namespace vesta::cli
