#include "cli/man_page.h"

#include <fmt/format.h>

namespace vesta::cli {
namespace {

// Text as it is: a dash stays the one that people type, and no line begins a request.
std::string escaped(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

// As one argument of a macro.
std::string roff_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : escaped(text)) out += c == '"' ? std::string("\\(dq") : std::string(1, c);
  return out + "\"";
}

std::string flag_section(const Flag& flag) {
  std::string name = flag.letter != 0 ? fmt::format("\\fB\\-{}\\fR, ", flag.letter) : std::string();
  name += fmt::format("\\fB{}\\fR", escaped("--" + flag.name));
  if (!flag.value.empty()) name += fmt::format(" \\fI{}\\fR", escaped(flag.value));
  std::string help = flag.help;
  if (flag.repeats) help += "; may repeat";
  if (!flag.choices.empty()) help += fmt::format(" ({})", fmt::join(flag.choices, ", "));
  return fmt::format(".TP\n{}\n{}\n", name, escaped(help));
}

std::string command_section(const Command& command) {
  std::string out =
      fmt::format(".SS {}\n{}.\n", roff_quoted("vesta " + command.name + " " + command.arguments),
                  escaped(command.summary));
  const std::string description = description_of(command);
  if (!description.empty()) out += fmt::format(".PP\n{}\n", escaped(description));
  if (!command.examples.empty()) {
    out += ".PP\nExamples:\n.PP\n.nf\n.RS\n";
    for (const std::string& example : command.examples) out += escaped(example) + "\n";
    out += ".RE\n.fi\n";
  }
  for (const Flag& flag : command.flags) out += flag_section(flag);
  return out;
}

}  // namespace

std::string man_page(const std::vector<Command>& commands, std::string_view version) {
  std::string out = fmt::format(
      ".TH VESTA 1 \"\" \"vesta {}\" \"User Commands\"\n.SH NAME\nvesta \\- always\\-on profiler "
      "for Linux\n.SH SYNOPSIS\n.B vesta\n.I COMMAND\n[\\fIARGUMENTS\\fR] [\\fIFLAGS\\fR]\n.SH "
      "DESCRIPTION\nVesta shows which code uses CPU time, memory and locks. It records programs, "
      "profiles whole hosts continuously, stores profiles, and shows them in the terminal and in a "
      "web UI.\n.PP\nFlags may appear anywhere after the command, as \\fB\\-\\-flag\\fR "
      "\\fIVALUE\\fR, \\fB\\-\\-flag=\\fR\\fIVALUE\\fR, or in pprof's spelling, "
      "\\fB\\-flag=\\fR\\fIVALUE\\fR.\n.SH COMMANDS\n",
      version);
  for (const Command& command : commands) out += command_section(command);
  out +=
      ".SH ENVIRONMENT\n.TP\n.B VESTA_SERVER\naddress of the server\n.TP\n.B VESTA_TOKEN\naccess "
      "token\n.TP\n.B VESTA_TENANT\ntenant, on multi-tenant servers without tokens\n.PP\nEach "
      "configuration key has a variable too; \\fBvesta config show\\fR names those in use.\n.SH "
      "EXIT STATUS\n.TP\n.B 0\nsuccess\n.TP\n.B 1\nfailure\n.TP\n.B 2\nusage error\n.TP\n.B 4\nno "
      "data\n";
  return out;
}

}  // namespace vesta::cli
