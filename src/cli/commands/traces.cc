#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_report.h"
#include "cli/source.h"

namespace vesta::cli {
namespace {

constexpr size_t kTracesRows = 50;

Result<int> run_traces(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, kTracesRows));
  if (server_answers(arguments))
    return print_selector("/api/v1/traces", {}, arguments, options, console);
  VESTA_ASSIGN(const FrameProfile frames, load_frames(arguments, console));
  return print_report(frames, traces_report(header_for(frames, options), frames, options), console);
}

}  // namespace

Command traces_command() {
  Command c;
  c.name = "traces";
  c.summary = "Print every stack with its weight and labels, heaviest first";
  c.arguments = "SOURCE…";
  c.examples = {"vesta traces --tag-focus request=slow cpu.pb.gz",
                "vesta traces -n 0 cpu.pb.gz  # all stacks"};
  c.min_arguments = 1;
  c.flags = with_flags({}, {filter_flags(), label_name_flags(), report_flags(), input_flags()});
  c.run = run_traces;
  return c;
}

}  // namespace vesta::cli
