#include "cli/commands.h"

namespace vesta::cli {

std::vector<Command> all_commands() {
  return {record_command(), dump_command(),       up_command(),      agent_command(),
          server_command(), config_command(),     doctor_command(),  top_command(),
          tree_command(),   peek_command(),       traces_command(),  list_command(),
          flame_command(),  labels_command(),     types_command(),   diff_command(),
          merge_command(),  convert_command(),    query_command(),   import_command(),
          export_command(), backup_command(),     restore_command(), delete_command(),
          token_command(),  completion_command(), version_command()};
}

}  // namespace vesta::cli
