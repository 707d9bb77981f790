#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"

namespace vesta::cli {
namespace {

Result<int> run_backup(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ServerClient client, ServerClient::from(arguments));
  const std::string name = arguments.positional.empty() ? "" : arguments.positional[0];
  ServerClient::Parameters parameters;
  if (!name.empty()) parameters.emplace_back("name", name);
  VESTA_ASSIGN(const std::string answer, client.post("/api/v1/backup", parameters, {}));
  VESTA_TRY(console.print(answer + "\n"));
  return kOk;
}

}  // namespace

Command backup_command() {
  Command c;
  c.name = "backup";
  c.summary = "Back up the data of a running server";
  c.arguments = "[NAME]";
  c.description =
      "The server writes the copy on its own machine, to the folder set by --backups of `vesta "
      "server`. The same NAME again copies only what is new. `vesta restore` restores it.";
  c.examples = {"vesta backup nightly", "vesta backup --server http://profiles:4040 nightly"};
  c.max_arguments = 1;
  c.flags = with_flags({}, {without(server_flags(), {"from", "to"})});
  c.run = run_backup;
  return c;
}

}  // namespace vesta::cli
