#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/common_flags.h"

namespace vesta::cli {
namespace {

std::string shell_quoted(std::string text) {
  for (size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at + 4))
    text.replace(at, 1, "'\\''");
  return "'" + text + "'";
}

std::string command_names(const std::vector<Command>& commands) {
  std::string out;
  for (const Command& c : commands) out += (out.empty() ? "" : " ") + c.name;
  return out;
}

std::string bash(const std::vector<Command>& commands) {
  std::string out =
      "# bash completion for vesta: source <(vesta completion bash)\n"
      "_vesta() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]} "
      "words=\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n";
  out += fmt::format("    COMPREPLY=($(compgen -W \"{} help\" -- \"$cur\"))\n    return\n  fi\n",
                     command_names(commands));
  out += "  case \"$cmd $prev\" in\n";
  for (const Command& c : commands) {
    for (const Flag& flag : c.flags) {
      if (flag.choices.empty()) continue;
      const std::string short_form =
          flag.letter != 0 ? fmt::format("|\"{} -{}\"", c.name, flag.letter) : "";
      out += fmt::format(
          "    \"{} --{}\"{}) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n", c.name,
          flag.name, short_form, fmt::join(flag.choices, " "));
    }
  }
  out += "  esac\n  case \"$cmd\" in\n";
  for (const Command& c : commands) {
    std::string flags;
    for (const Flag& flag : c.flags) flags += (flags.empty() ? "--" : " --") + flag.name;
    out += fmt::format("    {}) words=\"{}\" ;;\n", c.name, flags);
  }
  return out +
         "  esac\n"
         "  case \"$cur\" in\n"
         "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
         "    *) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
         "  esac\n"
         "}\n"
         "complete -o filenames -F _vesta vesta\n";
}

std::string zsh(const std::vector<Command>& commands) {
  std::string out =
      "#compdef vesta\n# zsh completion for vesta: source <(vesta completion zsh)\n_vesta() {\n  "
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
      } else if (!flag.value.empty()) {
        spec += fmt::format(":{}:_files", flag.value);
      }
      out += " \\\n        " + shell_quoted(spec);
    }
    out += " \\\n        '*:file:_files'\n      ;;\n";
  }
  return out + "  esac\n}\ncompdef _vesta vesta\n";
}

std::string fish(const std::vector<Command>& commands) {
  std::string out = "# fish completion for vesta: vesta completion fish | source\n";
  for (const Command& c : commands) {
    out += fmt::format("complete -c vesta -n __fish_use_subcommand -f -a {} -d {}\n", c.name,
                       shell_quoted(c.summary));
    for (const Flag& flag : c.flags) {
      out += fmt::format(
          "complete -c vesta -n '__fish_seen_subcommand_from {}' -l {}{}{}{} -d {}\n", c.name,
          flag.name, flag.letter != 0 ? fmt::format(" -s {}", flag.letter) : "",
          flag.value.empty() ? "" : " -r",
          flag.choices.empty() ? "" : fmt::format(" -f -a '{}'", fmt::join(flag.choices, " ")),
          shell_quoted(flag.help));
    }
  }
  return out;
}

Result<int> run(const Arguments& arguments, Console& console) {
  const std::string& shell = arguments.positional[0];
  const std::vector<Command> commands = all_commands();
  if (shell == "bash") {
    VESTA_TRY(console.print(bash(commands)));
  } else if (shell == "zsh") {
    VESTA_TRY(console.print(zsh(commands)));
  } else if (shell == "fish") {
    VESTA_TRY(console.print(fish(commands)));
  } else {
    return Error{ErrorCode::kUsage, fmt::format("no completion for '{}'", shell),
                 "there is: bash, zsh, fish"};
  }
  return kOk;
}

}  // namespace

Command completion_command() {
  Command c;
  c.name = "completion";
  c.summary = "A script that completes commands and flags in your shell";
  c.arguments = "bash|zsh|fish";
  c.examples = {"source <(vesta completion bash)", "vesta completion fish | source"};
  c.min_arguments = 1;
  c.max_arguments = 1;
  c.flags = with_flags({}, {});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
