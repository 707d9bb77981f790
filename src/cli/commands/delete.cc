#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "base/clock.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"
#include "query/time_range.h"

namespace vesta::cli {
namespace {

// What is deleted is gone: a person is asked, a program has to say --yes.
Result<bool> is_sure(const Arguments& arguments, Console& console, const std::string& what) {
  if (arguments.has("yes")) return true;
  if (::isatty(STDIN_FILENO) == 0) {
    return Error{ErrorCode::kUsage,
                 "refusing to delete without confirmation: standard input is not a terminal",
                 "use --yes to delete without confirmation"};
  }
  console.tell(fmt::format("Delete {}? This cannot be undone. [y/N] ", what));
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes" || answer == "Y";
}

// What is deleted, as the server is told and as the user is: "-1d" is the same moment for both,
// however long the question is looked at.
struct Extent {
  ServerClient::Parameters parameters;
  std::string text;
};

Result<Extent> extent_of(const Arguments& arguments) {
  const bool all_time = arguments.has("all-time");
  if (all_time && (arguments.has("from") || arguments.has("to"))) {
    return Error{ErrorCode::kUsage, "cannot combine --all-time with a range",
                 "use --from and --to, or --all-time"};
  }
  if (all_time) return Extent{{{"all_time", "true"}}, "of all time"};
  if (!arguments.has("from") || !arguments.has("to")) {
    return Error{ErrorCode::kUsage, "the range to delete is incomplete",
                 "use --from and --to, or --all-time for everything"};
  }
  VESTA_ASSIGN(const TimeRange range,
               parse_time_range(arguments.get("from"), arguments.get("to"), unix_now().ns));
  const std::string from = utc_text(UnixNs(range.start_ns));
  const std::string to = utc_text(UnixNs(range.end_ns));
  return Extent{{{"from", from}, {"to", to}}, fmt::format("from {} to {}", from, to)};
}

Result<int> run_delete(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const Extent extent, extent_of(arguments));
  VESTA_ASSIGN(const ServerClient client, ServerClient::from(arguments));
  const std::string& selector = arguments.positional[0];
  ServerClient::Parameters parameters = {{"query", selector}};
  parameters.insert(parameters.end(), extent.parameters.begin(), extent.parameters.end());
  const std::string what =
      fmt::format("all profiles of {} {} on {}", selector, extent.text, client.url());
  VESTA_ASSIGN(const bool sure, is_sure(arguments, console, what));
  if (!sure) {
    console.note("nothing was deleted");
    return kFailure;
  }
  console.note("deleting " + what);
  VESTA_ASSIGN(const std::string answer, client.remove("/api/v1/series", parameters));
  VESTA_TRY(console.print(answer + "\n"));
  return kOk;
}

}  // namespace

Command delete_command() {
  Command c;
  c.name = "delete";
  c.summary = "Delete profiles from a server, by selector and time";
  c.arguments = "SELECTOR";
  c.description =
      "Deleting cannot be undone, so the range has no default: give --from and --to, or "
      "--all-time. Shows what it will delete and asks for confirmation unless --yes is given.";
  c.examples = {"vesta delete '{service_name=\"old\"}' --all-time",
                "vesta delete '{pod=~\"test-.*\"}' --from -2d --to -1d --yes"};
  c.min_arguments = 1;
  c.max_arguments = 1;
  c.flags = with_flags(
      {{"from", 0, "TIME", "start of the range: -2d, 2026-11-15T14:30:00Z, Unix seconds"},
       {"to", 0, "TIME", "end of the range"},
       {"all-time", 0, "", "delete profiles of any time, instead of --from and --to"},
       {"yes", 'y', "", "do not ask for confirmation"}},
      {without(server_flags(), {"from", "to"})});
  c.run = run_delete;
  return c;
}

}  // namespace vesta::cli
