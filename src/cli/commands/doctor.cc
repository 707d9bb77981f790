#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "agent/doctor/doctor.h"
#include "base/json_writer.h"
#include "cli/commands.h"
#include "cli/common_flags.h"

namespace vesta::cli {
namespace {

struct Counts {
  size_t passed = 0;
  size_t warnings = 0;
  size_t failed = 0;
};

Counts count(const std::vector<agent::Check>& checks) {
  Counts counts;
  for (const agent::Check& check : checks) {
    if (check.status == agent::CheckStatus::kPass) ++counts.passed;
    if (check.status == agent::CheckStatus::kWarn) ++counts.warnings;
    if (check.status == agent::CheckStatus::kFail) ++counts.failed;
  }
  return counts;
}

const char* word_of(agent::CheckStatus status) {
  switch (status) {
    case agent::CheckStatus::kPass:
      return "pass";
    case agent::CheckStatus::kWarn:
      return "warn";
    case agent::CheckStatus::kFail:
      return "fail";
  }
  return "";
}

std::string as_json(const std::vector<agent::Check>& checks, const Counts& counts) {
  JsonWriter json(2);
  json.begin_object()
      .field("ok", counts.failed == 0)
      .field("passed", uint64_t{counts.passed})
      .field("warnings", uint64_t{counts.warnings})
      .field("failed", uint64_t{counts.failed})
      .key("checks")
      .begin_array();
  for (const agent::Check& check : checks) {
    json.begin_object()
        .field("name", check.name)
        .field("status", word_of(check.status))
        .field("message", check.message)
        .field("fix", check.fix)
        .end_object();
  }
  return json.end_array().end_object().take() + "\n";
}

std::string as_text(const std::vector<agent::Check>& checks, const Counts& counts,
                    const TextStyle& style) {
  size_t width = 0;
  for (const agent::Check& check : checks) width = std::max(width, check.name.size());
  std::set<std::string> said;
  std::string out;
  for (const agent::Check& check : checks) {
    std::string word = word_of(check.status);
    if (check.status == agent::CheckStatus::kPass) word = style.dim(word);
    if (check.status == agent::CheckStatus::kWarn) word = style.heat(word, 0.01);
    if (check.status == agent::CheckStatus::kFail) word = style.heat(word, 1);
    out += fmt::format("{}  {:<{}}  {}\n", word, check.name, width, printable(check.message));
    if (check.fix.empty()) continue;
    // One missing capability makes several checks fail; its fix is said once.
    const bool new_fix = said.insert(check.fix).second;
    out += fmt::format("      {:<{}}  {} {}\n", "", width, style.bold("fix:"),
                       new_fix ? printable(check.fix) : style.dim("as above"));
  }
  out += fmt::format("\n{} passed, {} {}, {} failed: {}\n", counts.passed, counts.warnings,
                     counts.warnings == 1 ? "warning" : "warnings", counts.failed,
                     counts.failed == 0 ? "Vesta can profile this machine"
                                        : style.red("Vesta cannot profile this machine"));
  return out;
}

Result<int> run_doctor(const Arguments& arguments, Console& console) {
  const agent::LinuxKernel kernel;
  const std::vector<agent::Check> checks = agent::examine(agent::SystemView(kernel, ""));
  const Counts counts = count(checks);
  VESTA_TRY(console.print(arguments.get("output") == "json"
                              ? as_json(checks, counts)
                              : as_text(checks, counts, console.out_style())));
  return counts.failed == 0 ? kOk : kFailure;
}

}  // namespace

Command doctor_command() {
  Command c;
  c.name = "doctor";
  c.summary = "Check whether this machine can be profiled, and how to fix what prevents it";
  c.description =
      "Checks the kernel, the privileges of this process and its environment. Each check passes, "
      "warns (profiles will be less complete) or fails (profiling cannot work), and prints the "
      "fix. Changes nothing. The exit code is 1 if a check fails.";
  c.examples = {"vesta doctor", "sudo vesta doctor  # with the privileges used for recording",
                "vesta doctor -o json | jq '.checks[] | select(.status == \"fail\")'"};
  c.max_arguments = 0;
  c.flags =
      with_flags({{"output", 'o', "FORMAT", "text or json (default text)", {"text", "json"}}}, {});
  c.run = run_doctor;
  return c;
}

}  // namespace vesta::cli
