#include "cli/commands.h"

#include <algorithm>
#include <array>

namespace vesta::cli {
namespace {

struct Entry {
  std::string_view name;
  Command (*make)();
};

constexpr auto kCommands = std::to_array<Entry>({
    {"record", record_command},   {"dump", dump_command},       {"up", up_command},
    {"agent", agent_command},     {"server", server_command},   {"config", config_command},
    {"doctor", doctor_command},   {"top", top_command},         {"tree", tree_command},
    {"peek", peek_command},       {"traces", traces_command},   {"list", list_command},
    {"flame", flame_command},     {"web", web_command},         {"labels", labels_command},
    {"types", types_command},     {"diff", diff_command},       {"merge", merge_command},
    {"convert", convert_command}, {"query", query_command},     {"import", import_command},
    {"export", export_command},   {"backup", backup_command},   {"restore", restore_command},
    {"delete", delete_command},   {"token", token_command},     {"completion", completion_command},
    {"man", man_command},         {"version", version_command},
});

}  // namespace

std::vector<Command> all_commands() {
  std::vector<Command> commands;
  commands.reserve(kCommands.size());
  for (const Entry& entry : kCommands) commands.push_back(entry.make());
  return commands;
}

std::optional<Command> find_command(std::string_view name) {
  const auto entry = std::ranges::find(kCommands, name, &Entry::name);
  if (entry == kCommands.end()) return std::nullopt;
  return entry->make();
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  names.reserve(kCommands.size());
  for (const Entry& entry : kCommands) names.emplace_back(entry.name);
  return names;
}

}  // namespace vesta::cli
