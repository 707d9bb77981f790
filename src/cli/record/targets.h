// What `vesta record` and `vesta top` look at: flags that name processes, threads, cgroups,
// containers and units, and what they stand for now. Plain functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/stream/sampling_targets.h"
#include "cli/command.h"

namespace vesta::cli {

// -p, --tid, --cgroup, --container, --systemd-unit and -a.
std::vector<Flag> target_flags();

bool names_targets(const Arguments& arguments);

struct ChosenTargets {
  bool whole_host = false;
  agent::TargetOptions options;
  std::string what;           // "process 1234", "nginx (1234, 1240)"
  bool is_looked_up = false;  // by a name, so that people want to see what was found
};

// All of them together. kUsage for words that cannot be meant, kNotFound, with names that come
// close, for what does not run.
Result<ChosenTargets> choose_targets(const Arguments& arguments);

// A number or a name of -p; a name may stand for several processes.
Result<std::vector<uint32_t>> processes_of_word(std::string_view word);

// For a word that was typed without a flag: whether a process is called that.
bool is_process_name(std::string_view word);

}  // namespace vesta::cli
