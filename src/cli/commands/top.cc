#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/source.h"

namespace vesta::cli {
namespace {

constexpr size_t kRows = 40;

Result<int> run(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, kRows));
  VESTA_ASSIGN(const MergedProfile profile, load_profile(arguments, console));
  VESTA_ASSIGN(const FrameProfile frames, resolve_frames(profile, frame_options_of(arguments)));
  return print_report(frames, top_report(frames, order_of(arguments), options), console);
}

}  // namespace

Command top_command() {
  Command c;
  c.name = "top";
  c.summary = "The functions that cost most, by their own (flat) or their whole (cum) weight";
  c.arguments = "SOURCE…";
  c.description =
      "SOURCE is a file in any format that Vesta reads, - for standard input, or a URL that serves "
      "pprof. Several sources are merged.";
  c.examples = {
      "vesta top cpu.pb.gz", "vesta top --cum --focus 'json\\.' cpu.pb.gz  # what calls into json",
      "vesta top -t alloc heap.pb.gz -n 10",
      "vesta top http://localhost:6060/debug/pprof/profile?seconds=5", "perf script | vesta top -"};
  c.min_arguments = 1;
  c.flags = with_flags({{"cum", 'c', "", "sort by cumulative weight"}},
                       {filter_flags(), report_flags(), input_flags()});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
