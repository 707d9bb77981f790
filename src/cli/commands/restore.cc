#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/private_files.h"
#include "store/engines/engines.h"

namespace vesta::cli {
namespace {

Result<int> run_restore(const Arguments& arguments, Console& console) {
  keep_files_private();
  const std::string& from = arguments.positional[0];
  const std::string& to = arguments.positional[1];
  std::error_code ignored;
  if (std::filesystem::exists(to, ignored) && !std::filesystem::is_empty(to, ignored)) {
    return Error{ErrorCode::kUsage, fmt::format("{} is not empty", to),
                 "restore into a new folder, then start the server with --data FOLDER"};
  }
  VESTA_TRY(server_engine().restore(from, to + "/store"));
  console.note(
      fmt::format("restored {} into {}; start it with: vesta server --data {}", from, to, to));
  return kOk;
}

}  // namespace

Command restore_command() {
  Command c;
  c.name = "restore";
  c.summary = "Restore a backup into a new data folder";
  c.arguments = "BACKUP DATA";
  c.examples = {"vesta restore /var/backups/vesta/nightly /var/lib/vesta-restored"};
  c.min_arguments = 2;
  c.max_arguments = 2;
  c.flags = with_flags({}, {});
  c.run = run_restore;
  return c;
}

}  // namespace vesta::cli
