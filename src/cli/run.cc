#include "cli/run.h"

#include <fmt/format.h>

#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/pprof_flags.h"

namespace vesta::cli {
namespace {

int exit_code_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kUsage:
      return kUsage;
    case ErrorCode::kNoData:
      return kNoData;
    default:
      return kFailure;
  }
}

int fail(const Error& error, Console& console) {
  console.error(error);
  return exit_code_of(error);
}

int run_command(const Command& command, const std::vector<std::string>& words, Console& console) {
  const auto arguments = parse_arguments(command, words);
  if (!arguments.ok()) return fail(arguments.error(), console);
  console.set_color(arguments->has("no-color") ? "never" : arguments->get("color", "auto"));
  if (arguments->has("help")) {
    const Status printed = console.print(help_text(command, console.out_style()));
    return printed.ok() ? kOk : fail(printed.error(), console);
  }
  const Result<int> code = command.run(*arguments, console);
  return code.ok() ? *code : fail(code.error(), console);
}

}  // namespace

int run(const std::vector<std::string>& words, Console& console) {
  if (words.empty()) {
    console.note(overview_text(all_commands(), TextStyle()));
    return kUsage;
  }
  std::string name = words[0];
  std::vector<std::string> rest(words.begin() + 1, words.end());
  if (name == "--version" || name == "-V") name = "version";
  if (name == "help" && !rest.empty()) {
    name = rest[0];
    rest = {"--help"};
  }
  if (name == "help" || name == "--help" || name == "-h") {
    const Status printed = console.print(overview_text(all_commands(), console.out_style()));
    return printed.ok() ? kOk : fail(printed.error(), console);
  }
  if (const auto command = find_command(name)) return run_command(*command, rest, console);
  if (name.starts_with('-')) {
    std::string report = name;
    report.erase(0, report.find_first_not_of('-'));
    const std::string_view command = command_of_pprof_report(report.substr(0, report.find('=')));
    if (!command.empty()) {
      return fail({ErrorCode::kUsage, fmt::format("the command must come before {}", name),
                   fmt::format("did you mean: vesta {}?", command)},
                  console);
    }
  }
  const std::string near = nearest(name, command_names());
  return fail({ErrorCode::kUsage, fmt::format("unknown command '{}'", name),
               near.empty() ? "vesta --help lists the commands"
                            : fmt::format("did you mean: vesta {}?", near)},
              console);
}

}  // namespace vesta::cli
