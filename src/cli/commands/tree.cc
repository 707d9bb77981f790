#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/source.h"

namespace vesta::cli {
namespace {

constexpr size_t kRows = 80;

Result<int> run(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, kRows));
  VESTA_ASSIGN(const FrameProfile frames, load_frames(arguments, console));
  return print_report(
      frames, graph_report(frames, build_call_graph(frames, order_of(arguments)), {}, options),
      console);
}

}  // namespace

Command tree_command() {
  Command c;
  c.name = "tree";
  c.summary = "Each function with its callers above it and its callees below";
  c.arguments = "SOURCE…";
  c.examples = {"vesta tree cpu.pb.gz -n 20", "vesta tree --cum cpu.pb.gz",
                "vesta tree cpu.pb.gz -o csv  # edges for a spreadsheet"};
  c.min_arguments = 1;
  c.flags = with_flags(
      {{"cum", 'c', "", "sort by cumulative weight"},
       {"min-edge-share", 0, "PERCENT", "leave out calls below this share of the total"}},
      {filter_flags(), report_flags(), difference_flags(), input_flags()});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
