#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/source.h"

namespace vesta::cli {
namespace {

constexpr size_t kRows = 100;

Result<int> run(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, kRows));
  VESTA_ASSIGN(const FrameProfile frames, load_frames(arguments, console));
  const TreeDirection direction =
      arguments.has("inverted") ? TreeDirection::kBottomUp : TreeDirection::kTopDown;
  return print_report(frames,
                      tree_report(frames, build_call_tree(frames, direction, ChildOrder::kByTotal),
                                  direction, options),
                      console);
}

}  // namespace

Command flame_command() {
  Command c;
  c.name = "flame";
  c.summary = "The call tree as text: a flame graph for the terminal";
  c.arguments = "SOURCE…";
  c.description = "For a picture, use vesta convert SOURCE -o flame.svg or flame.html.";
  c.examples = {"vesta flame cpu.pb.gz",
                "vesta flame --inverted cpu.pb.gz  # callers of the hottest functions",
                "vesta flame cpu.pb.gz --min-share 1% -n 60"};
  c.min_arguments = 1;
  c.flags = with_flags({{"inverted", 'i', "", "bottom-up: functions first, their callers below"}},
                       {filter_flags(), report_flags(), input_flags()});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
