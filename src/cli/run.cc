#include "cli/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "cli/commands.h"

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
  const std::vector<Command> commands = all_commands();
  if (words.empty()) {
    console.note(overview_text(commands, TextStyle()));
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
    const Status printed = console.print(overview_text(commands, console.out_style()));
    return printed.ok() ? kOk : fail(printed.error(), console);
  }
  const auto command =
      std::ranges::find_if(commands, [&](const Command& c) { return c.name == name; });
  if (command != commands.end()) return run_command(*command, rest, console);
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const Command& c : commands) names.push_back(c.name);
  const std::string near = nearest(name, names);
  return fail({ErrorCode::kUsage, fmt::format("'{}' is no command", name),
               near.empty() ? "vesta --help lists the commands"
                            : fmt::format("did you mean: vesta {}?", near)},
              console);
}

}  // namespace vesta::cli
