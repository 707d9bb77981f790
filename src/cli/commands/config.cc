#include <fmt/format.h>

#include <filesystem>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/config/configuration.h"
#include "config/show.h"

namespace vesta::cli {
namespace {

void tell(Console& console, std::string_view kind, const std::vector<config::Finding>& findings) {
  for (const config::Finding& finding : findings) {
    console.note(fmt::format("{}: {}", kind, finding.error.message));
    if (!finding.error.hint.empty()) console.note(fmt::format("  hint: {}", finding.error.hint));
  }
}

std::string counted(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// Everything that was found, and an error when something is wrong.
Status report(const config::Findings& findings, const std::string& name, Console& console) {
  tell(console, "warning", findings.warnings);
  tell(console, "error", findings.errors);
  if (findings.errors.empty()) return {};
  return Error{ErrorCode::kUsage,
               fmt::format("{} has {}", name, counted(findings.errors.size(), "error")),
               {}};
}

Result<int> check(const std::string& path, Console& console) {
  Configuration configuration;
  read_configuration_file(configuration, path);
  check_roles(configuration);
  VESTA_TRY(report(configuration.findings, path, console));
  const size_t warnings = configuration.findings.warnings.size();
  VESTA_TRY(console.print(
      fmt::format("{} is valid{}\n", path,
                  warnings == 0 ? "" : fmt::format(", with {}", counted(warnings, "warning")))));
  return kOk;
}

Result<int> show(const Arguments& arguments, Console& console) {
  Configuration configuration = configuration_of(arguments, {});
  check_roles(configuration);
  VESTA_TRY(report(configuration.findings, "the configuration", console));
  const config::Node tree = config::show_fields(configuration_fields(configuration));
  const config::Origins& origins = configuration.findings.origins;
  VESTA_TRY(console.print(arguments.get("output") == "json" ? config::show_json(tree, origins)
                                                            : config::show_yaml(tree, origins)));
  return kOk;
}

constexpr std::string_view kStarterHead =
    "# Vesta configuration, for `vesta agent`, `vesta server` and `vesta up`. Every key is "
    "optional.\n# Commented lines show the default and, after it, the type of the value.\n# `vesta "
    "config check FILE` finds errors, `vesta config show --config FILE` prints the settings.\n\n";

Result<int> init(const Arguments& arguments, const std::string& path, Console& console) {
  if (path != "-" && std::filesystem::exists(std::filesystem::symlink_status(path)) &&
      !arguments.has("force")) {
    return Error{ErrorCode::kUsage, fmt::format("{} already exists", path),
                 "choose another name, or overwrite it with --force"};
  }
  Configuration configuration;
  const std::string text =
      std::string(kStarterHead) + config::starter_yaml(configuration_fields(configuration));
  VESTA_TRY(write_file(path, text));
  if (path != "-") console.note(fmt::format("wrote {}", path));
  return kOk;
}

Result<int> run_config(const Arguments& arguments, Console& console) {
  const std::vector<std::string>& words = arguments.positional;
  if (words[0] == "init") return init(arguments, words.size() == 2 ? words[1] : "-", console);
  if (words[0] == "check") {
    if (words.size() == 2 && !arguments.has("config")) return check(words[1], console);
    return Error{ErrorCode::kUsage, "config check needs a file", "vesta config check FILE"};
  }
  if (words[0] != "show") {
    return Error{ErrorCode::kUsage, fmt::format("unknown action '{}'", words[0]),
                 "use init, check or show"};
  }
  if (words.size() == 1) return show(arguments, console);
  return Error{ErrorCode::kUsage, fmt::format("unexpected argument '{}'", words[1]),
               "vesta config show --config FILE"};
}

}  // namespace

Command config_command() {
  Command c;
  c.name = "config";
  c.summary = "Create or check a configuration file, or show the current settings";
  c.arguments = "init [FILE] | check FILE | show";
  c.description =
      "Agent and server read the same YAML file. `init` writes a commented file to FILE or "
      "standard output. `check` reports every error of a file with line, column and the closest "
      "known key, and exits with 2 if there are any; it warns about keys that have no effect yet. "
      "`show` prints every setting and where it came from: the default, the file, or the "
      "environment (agent.profiling.sample_rate is VESTA_AGENT_PROFILING_SAMPLE_RATE). Secrets are "
      "shown as ***.";
  c.examples = {"vesta config init /etc/vesta.yaml  # every key with its default, commented out",
                "vesta config check /etc/vesta.yaml", "vesta config show",
                "vesta config show --config /etc/vesta.yaml -o json"};
  c.min_arguments = 1;
  c.max_arguments = 2;
  c.flags = with_flags({{"config", 'c', "FILE", "show: YAML configuration file"},
                        {"force", 0, "", "init: overwrite an existing file"},
                        {"output", 'o', "FORMAT", "yaml (default) or json", {"yaml", "json"}}},
                       {});
  c.run = run_config;
  return c;
}

}  // namespace vesta::cli
