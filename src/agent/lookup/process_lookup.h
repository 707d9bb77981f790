// Processes by the names that people know them by. Reads /proc; keeps nothing. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vesta::agent {

struct NamedProcess {
  uint32_t pid = 0;
  // What it may be called: its own name (comm), its executable without folders, the first word of
  // its command line without folders, the script or class that its interpreter runs. No duplicates.
  std::vector<std::string> names;
};

// Every process that runs, but not `except`; oldest ids first.
std::vector<NamedProcess> list_named_processes(const std::string& proc_root, uint32_t except);

// Those with exactly that name. A name that the kernel cut to 15 bytes counts when nothing else is
// known to be the whole of it.
std::vector<uint32_t> processes_named(const std::vector<NamedProcess>& all, std::string_view name);

// Names to offer for one that nothing has: the nearest, or those that contain it. At most `most`.
std::vector<std::string> similar_names(const std::vector<NamedProcess>& all, std::string_view name,
                                       size_t most);

}  // namespace vesta::agent
