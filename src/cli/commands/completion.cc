#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/completion_values.h"
#include "cli/server_client.h"

namespace vesta::cli {
namespace {

std::string shell_quoted(std::string text) {
  for (size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 4))
    text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

// What `vesta completion` can be asked for about the value of a flag; empty for files.
std::string_view question_about(const Flag& flag) {
  if (flag.name == "pid") return "pids";
  if (flag.name == "type") return "types";
  return {};
}

bool takes_sources(const Command& command) {
  return command.arguments.find("SOURCE") != std::string::npos ||
         command.arguments.find("BEFORE") != std::string::npos ||
         command.arguments.find("SELECTOR") != std::string::npos;
}

std::string names_of(const std::vector<Command>& commands) {
  std::string out;
  for (const Command& c : commands) out += (out.empty() ? "" : " ") + c.name;
  return out;
}

std::string bash(const std::vector<Command>& commands) {
  std::string out =
      "# bash completion for vesta: source <(vesta completion bash)\n"
      "_vesta() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]} "
      "words= sources=\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  out += fmt::format("    COMPREPLY=($(compgen -W \"{} help\" -- \"$cur\"))\n    return\n  fi\n",
                     names_of(commands));
  out += "  case \"$cmd $prev\" in\n";
  for (const Command& c : commands) {
    for (const Flag& flag : c.flags) {
      const std::string_view question = question_about(flag);
      if (flag.choices.empty() && question.empty()) continue;
      const std::string offered =
          flag.choices.empty()
              ? fmt::format("$(vesta completion {} 2>/dev/null | cut -f1)", question)
              : fmt::format("{}", fmt::join(flag.choices, " "));
      const std::string short_form =
          flag.letter != 0 ? fmt::format("|\"{} -{}\"", c.name, flag.letter) : "";
      out += fmt::format(
          "    \"{} --{}\"{}) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n", c.name,
          flag.name, short_form, offered);
    }
  }
  out += "  esac\n";
  for (const Command& c : commands) {
    const std::vector<std::string> words = first_words(c.arguments);
    if (words.empty()) continue;
    out += fmt::format(
        "  if [ \"$COMP_CWORD $cmd\" = \"2 {}\" ] && [[ \"$cur\" != -* ]]; then\n"
        "    COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))\n    return\n  fi\n",
        c.name, fmt::join(words, " "));
  }
  out += "  case \"$cmd\" in\n";
  for (const Command& c : commands) {
    std::string flags;
    for (const Flag& flag : c.flags) flags += (flags.empty() ? "--" : " --") + flag.name;
    out += fmt::format("    {}) words=\"{}\"{} ;;\n", c.name, flags,
                       takes_sources(c) ? " sources=1" : "");
  }
  return out +
         "  esac\n"
         "  case \"$cur\" in\n"
         "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
         "    *)\n"
         "      COMPREPLY=($(compgen -f -- \"$cur\"))\n"
         "      if [ -n \"$sources\" ] && [ ${#COMPREPLY[@]} -eq 0 ]; then\n"
         "        local IFS=$'\\n' typed=${cur#[\\'\\\"]}\n"
         "        COMPREPLY=($(vesta completion selector \"$typed\" 2>/dev/null))\n"
         "        compopt -o nospace +o filenames 2>/dev/null\n"
         "      fi ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _vesta vesta\n";
}

std::string zsh(const std::vector<Command>& commands) {
  std::string out =
      "#compdef vesta\n# zsh completion for vesta: source <(vesta completion zsh)\n"
      "_vesta_asked() {\n"
      "  local -a found\n"
      "  found=(${(f)\"$(vesta completion $1 2>/dev/null | sed 's/:/\\\\:/g' | tr '\\t' ':')\"})\n"
      "  _describe $1 found\n}\n"
      "_vesta_sources() {\n"
      "  local -a found\n  _files\n"
      "  found=(${(f)\"$(vesta completion selector \"${(Q)PREFIX}\" 2>/dev/null)\"})\n"
      "  (( $#found )) && compadd -U -Q -S '' -- $found\n}\n"
      "_vesta() {\n  "
      "local -a commands\n  commands=(\n";
  for (const Command& c : commands)
    out += fmt::format("    {}\n", shell_quoted(c.name + ":" + c.summary));
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  "
      "case ${words[2]} in\n";
  for (const Command& c : commands) {
    out += fmt::format("    {})\n      _arguments", c.name);
    for (const Flag& flag : c.flags) {
      std::string help = flag.help;
      std::erase_if(help, [](char ch) { return ch == '[' || ch == ']' || ch == ':'; });
      std::string spec = fmt::format("--{}[{}]", flag.name, help);
      if (!flag.choices.empty()) {
        spec += fmt::format(":{}:({})", flag.value, fmt::join(flag.choices, " "));
      } else if (const std::string_view question = question_about(flag); !question.empty()) {
        spec += fmt::format(":{}:{{_vesta_asked {}}}", flag.value, question);
      } else if (!flag.value.empty()) {
        spec += fmt::format(":{}:_files", flag.value);
      }
      out += " \\\n        " + shell_quoted(spec);
    }
    if (const std::vector<std::string> words = first_words(c.arguments); !words.empty())
      out += fmt::format(" \\\n        '2:word:({})'", fmt::join(words, " "));
    out += takes_sources(c) ? " \\\n        '*:source:_vesta_sources'\n      ;;\n"
                            : " \\\n        '*:file:_files'\n      ;;\n";
  }
  return out + "  esac\n}\ncompdef _vesta vesta\n";
}

std::string fish(const std::vector<Command>& commands) {
  std::string out = "# fish completion for vesta: vesta completion fish | source\n";
  for (const Command& c : commands) {
    out += fmt::format("complete -c vesta -n __fish_use_subcommand -f -a {} -d {}\n", c.name,
                       shell_quoted(c.summary));
    if (const std::vector<std::string> words = first_words(c.arguments); !words.empty()) {
      out += fmt::format("complete -c vesta -n '__fish_seen_subcommand_from {}' -a '{}'\n", c.name,
                         fmt::join(words, " "));
    }
    if (takes_sources(c)) {
      out += fmt::format(
          "complete -c vesta -n '__fish_seen_subcommand_from {}' -a '(type -q vesta; and vesta "
          "completion selector "
          "(commandline -ct | string trim -l -c \"\\'\\\"\") 2>/dev/null)'\n",
          c.name);
    }
    for (const Flag& flag : c.flags) {
      const std::string_view question = question_about(flag);
      const std::string offered =
          !flag.choices.empty() ? fmt::format(" -f -a '{}'", fmt::join(flag.choices, " "))
          : !question.empty()
              ? fmt::format(" -f -a '(type -q vesta; and vesta completion {} 2>/dev/null)'",
                            question)
              : "";
      out +=
          fmt::format("complete -c vesta -n '__fish_seen_subcommand_from {}' -l {}{}{}{} -d {}\n",
                      c.name, flag.name, flag.letter != 0 ? fmt::format(" -s {}", flag.letter) : "",
                      flag.value.empty() ? "" : " -r", offered, shell_quoted(flag.help));
    }
  }
  return out;
}

Result<int> run_completion(const Arguments& arguments, Console& console) {
  const std::string& shell = arguments.positional[0];
  const auto print_lines = [&](const std::vector<std::string>& lines) -> Result<int> {
    VESTA_TRY(
        console.print(fmt::format("{}{}", fmt::join(lines, "\n"), lines.empty() ? "" : "\n")));
    return kOk;
  };
  if (shell == "pids") return print_lines(process_candidates());
  if (shell == "types") return print_lines(type_candidates(arguments));
  if (shell == "selector") {
    return print_lines(selector_candidates(
        arguments, arguments.positional.size() > 1 ? arguments.positional[1] : ""));
  }
  const std::vector<Command> commands = all_commands();
  if (shell == "bash") {
    VESTA_TRY(console.print(bash(commands)));
  } else if (shell == "zsh") {
    VESTA_TRY(console.print(zsh(commands)));
  } else if (shell == "fish") {
    VESTA_TRY(console.print(fish(commands)));
  } else {
    return Error{ErrorCode::kUsage, fmt::format("unknown shell '{}'", shell),
                 "use bash, zsh or fish"};
  }
  return kOk;
}

}  // namespace

Command completion_command() {
  Command c;
  c.name = "completion";
  c.summary = "Print a shell completion script";
  c.arguments = "bash|zsh|fish";
  c.description =
      "Completes commands, flags and their values, processes, profile types, and labels inside a "
      "selector (from the server, VESTA_SERVER). The scripts call `vesta completion pids`, `types` "
      "and `selector TYPED`.";
  c.examples = {"source <(vesta completion bash)", "vesta completion fish | source"};
  c.min_arguments = 1;
  c.max_arguments = 2;
  c.flags = with_flags({}, {server_flags()});
  c.run = run_completion;
  return c;
}

}  // namespace vesta::cli
