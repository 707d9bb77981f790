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

Result<int> run(const Arguments& arguments, Console& console) {
  RecordingOptions naming;
  VESTA_TRY(apply_sampling_flags(arguments, console, naming));
  DumpOptions options;
  options.kernel_stacks = naming.sampling.kernel_stacks;
  options.symbolizer = naming.symbolizer;
  options.cache_folder = naming.sampling.cache_folder;
  for (const std::string& word : arguments.positional) {
    VESTA_ASSIGN(const std::vector<uint32_t> pids, processes_of_word(word));
    for (const uint32_t pid : pids) {
      if (std::ranges::find(options.pids, pid) == options.pids.end()) options.pids.push_back(pid);
    }
  }
  VESTA_ASSIGN(const ThreadDump dump, dump_threads(options));
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
  c.summary = "The stacks of all threads of a process, now";
  c.arguments = "PID|NAME…";
  c.description =
      "Shows where each thread is, those that sleep or wait included, without stopping any of "
      "them: "
      "no debugger is attached. The stack of a thread that waits is copied from the outside and "
      "checked against its context switches; a thread that runs is sampled once. Needs the same "
      "rights as vesta record.";
  c.examples = {"vesta dump 1234", "vesta dump nginx --no-kernel  # every process of that name",
                "vesta dump 1234 -o json", "vesta dump java -o folded | vesta flame -"};
  c.min_arguments = 1;
  c.flags = with_flags(
      {{"output", 'o', "FORMAT", "text (default), json or folded", {"text", "json", "folded"}}},
      {without(sampling_flags(), {"frequency", "clock"})});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
