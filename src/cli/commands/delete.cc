#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"

namespace vesta::cli {
namespace {

// What is deleted is gone: a person is asked, a program has to say --yes.
Result<bool> is_sure(const Arguments& arguments, Console& console, const std::string& what) {
  if (arguments.has("yes")) return true;
  if (::isatty(STDIN_FILENO) == 0) {
    return Error{ErrorCode::kUsage, "nobody is here to be asked whether to delete",
                 "--yes deletes without asking"};
  }
  console.tell(fmt::format("Delete {}? It cannot be brought back. [y/N] ", what));
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes" || answer == "Y";
}

Result<int> run(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ServerClient client, ServerClient::from(arguments));
  const std::string& selector = arguments.positional[0];
  ServerClient::Parameters parameters = {{"query", selector}};
  if (arguments.has("from")) parameters.emplace_back("from", arguments.get("from"));
  if (arguments.has("to")) parameters.emplace_back("to", arguments.get("to"));
  const bool whole = !arguments.has("from") && !arguments.has("to");
  const std::string what =
      fmt::format("all profiles of {} {} on {}", selector,
                  whole ? "of all time"
                        : fmt::format("from {} to {}", arguments.get("from", "the beginning"),
                                      arguments.get("to", "now")),
                  client.url());
  VESTA_ASSIGN(const bool sure, is_sure(arguments, console, what));
  if (!sure) {
    console.note("nothing was deleted");
    return kFailure;
  }
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
  c.examples = {"vesta delete '{service_name=\"old\"}'",
                "vesta delete '{pod=~\"test-.*\"}' --from -2d --to -1d --yes"};
  c.min_arguments = 1;
  c.max_arguments = 1;
  c.flags = with_flags({{"yes", 'y', "", "do not ask"}}, {server_flags()});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
