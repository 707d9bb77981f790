#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_report.h"
#include "cli/source.h"

namespace vesta::cli {
namespace {

constexpr size_t kTreeRows = 80;

Result<int> run_tree(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, kTreeRows));
  if (server_answers(arguments)) return print_graph(arguments, options, {}, console);
  VESTA_ASSIGN(const FrameProfile frames, load_frames(arguments, console));
  return print_report(frames,
                      graph_report(header_for(frames, options),
                                   build_call_graph(frames, order_of(arguments)), nullptr, options),
                      console);
}

}  // namespace

Command tree_command() {
  Command c;
  c.name = "tree";
  c.summary = "Print each function with its callers above and its callees below";
  c.arguments = "SOURCE…";
  c.examples = {"vesta tree cpu.pb.gz -n 20", "vesta tree --cum cpu.pb.gz",
                "vesta tree cpu.pb.gz -o csv  # edges for a spreadsheet"};
  c.min_arguments = 1;
  c.flags =
      with_flags({{"cum", 0, "", "sort by cumulative weight"},
                  {"min-edge-share", 0, "PERCENT", "drop calls below this share of the total"}},
                 {filter_flags(), report_flags(), difference_flags(), input_flags()});
  c.run = run_tree;
  return c;
}

}  // namespace vesta::cli
