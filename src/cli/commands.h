// The registry of commands: one function per file under commands/, one line each in commands.cc.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace vesta::cli {

Command record_command();
Command dump_command();
Command up_command();
Command agent_command();
Command server_command();
Command token_command();
Command top_command();
Command tree_command();
Command peek_command();
Command traces_command();
Command list_command();
Command flame_command();
Command labels_command();
Command types_command();
Command diff_command();
Command merge_command();
Command config_command();
Command convert_command();
Command query_command();
Command import_command();
Command export_command();
Command backup_command();
Command restore_command();
Command delete_command();
Command doctor_command();
Command web_command();
Command man_command();
Command completion_command();
Command version_command();

// In the order in which help shows them.
std::vector<Command> all_commands();
// The one of that name alone: a start should not pay for the tables of all others.
std::optional<Command> find_command(std::string_view name);
std::vector<std::string> command_names();

}  // namespace vesta::cli
