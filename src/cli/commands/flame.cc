#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_report.h"
#include "cli/source.h"
#include "reports/selection_tree.h"

namespace vesta::cli {
namespace {

constexpr size_t kFlameRows = 100;

Result<int> run_flame(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, kFlameRows));
  if (server_answers(arguments)) {
    return print_selector("/api/v1/tree",
                          {{"direction", arguments.has("inverted") ? "bottom-up" : "top-down"},
                           {"width", fmt::format("{}", options.style.width)}},
                          arguments, options, console);
  }
  VESTA_ASSIGN(const FrameProfile frames, load_frames(arguments, console));
  const TreeDirection direction =
      arguments.has("inverted") ? TreeDirection::kBottomUp : TreeDirection::kTopDown;
  const FlameTree tree = build_flame_tree(frames, direction);
  return print_report(frames,
                      tree_report(header_for(frames, options), tree, heaviest_nodes(tree, options),
                                  direction, options),
                      console);
}

}  // namespace

Command flame_command() {
  Command c;
  c.name = "flame";
  c.summary = "Print a flame graph in the terminal";
  c.arguments = "SOURCE…";
  c.description =
      "To draw a flame graph to a file, use vesta convert SOURCE -o flame.svg or flame.html.";
  c.examples = {"vesta flame cpu.pb.gz",
                "vesta flame --inverted cpu.pb.gz  # callers of the hottest functions",
                "vesta flame cpu.pb.gz --min-share 1% -n 60"};
  c.min_arguments = 1;
  c.flags = with_flags({{"inverted", 0, "", "bottom-up: functions first, their callers below"}},
                       {filter_flags(), report_flags(), input_flags()});
  c.run = run_flame;
  return c;
}

}  // namespace vesta::cli
