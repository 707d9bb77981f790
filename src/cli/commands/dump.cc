#include <fmt/format.h>

#include <algorithm>

#include "agent/dump/thread_dump.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/dump/dump_report.h"
#include "cli/record/sampling_flags.h"
#include "cli/record/targets.h"

namespace vesta::cli {
namespace {

Result<int> run_dump(const Arguments& arguments, Console& console) {
  agent::RecordingOptions naming;
  VESTA_TRY(apply_sampling_flags(arguments, console, naming));
  agent::DumpOptions options;
  options.kernel_stacks = naming.sampling.probes.front().options.kernel_stacks;
  options.symbolizer = naming.symbolizer;
  options.cache_folder = naming.sampling.cache_folder;
  for (const std::string& word : arguments.positional) {
    VESTA_ASSIGN(const std::vector<uint32_t> pids, processes_of_word(word));
    for (const uint32_t pid : pids) {
      if (std::ranges::find(options.pids, pid) == options.pids.end()) options.pids.push_back(pid);
    }
  }
  VESTA_ASSIGN(const agent::ThreadDump dump, agent::dump_threads(options));
  if (options.kernel_stacks && !dump.kernel_problem.empty())
    console.note(fmt::format("kernel functions have no names: {}", dump.kernel_problem));
  const std::string format = arguments.get("output", "text");
  VESTA_TRY(console.print(format == "json"     ? dump_json(dump)
                          : format == "folded" ? dump_folded(dump)
                                               : dump_text(dump, console.out_style())));
  return kOk;
}

}  // namespace

Command dump_command() {
  Command c;
  c.name = "dump";
  c.summary = "Print the current stacks of all threads of a process";
  c.arguments = "PID|NAME…";
  c.description =
      "Shows the stack of every thread, including threads that sleep or wait, without stopping "
      "them or attaching a debugger. The stack of a waiting thread is copied from outside and "
      "verified by its count of context switches; a running thread is sampled once. Needs the same "
      "privileges as vesta record.";
  c.examples = {"vesta dump 1234", "vesta dump nginx --no-kernel  # every process of that name",
                "vesta dump 1234 -o json", "vesta dump java -o folded | vesta flame -"};
  c.min_arguments = 1;
  c.flags = with_flags(
      {{"output", 'o', "FORMAT", "text (default), json or folded", {"text", "json", "folded"}}},
      {without(sampling_flags(), {"rate", "clock"})});
  c.run = run_dump;
  return c;
}

}  // namespace vesta::cli
