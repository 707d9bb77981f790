#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/live/live_view.h"
#include "cli/record/sampling_flags.h"
#include "cli/record/targets.h"
#include "cli/server_report.h"
#include "cli/source.h"

namespace vesta::cli {
namespace {

constexpr size_t kTopRows = 40;
constexpr int64_t kMinIntervalNs = 100'000'000;
constexpr int64_t kMaxStretches = 3600;  // each is a profile that is kept

std::vector<Flag> live_flags() {
  return {{"interval", 'i', "TIME", "live: update interval (default: 1s)"},
          {"window", 0, "TIME", "live: time that a table covers (default: 10s)"},
          {"duration", 'd', "TIME", "live: stop after this time (default: at Ctrl-C)"},
          {"count", 0, "N", "live: stop after this many tables"}};
}

Result<int> run_on_processes(const Arguments& arguments, Console& console) {
  if (!arguments.positional.empty()) {
    return Error{ErrorCode::kUsage, "cannot combine sources with live targets",
                 fmt::format("remove '{}', or the targets", arguments.positional[0])};
  }
  LiveOptions options;
  VESTA_ASSIGN(options.report, report_options_of(arguments, console, kTopRows));
  options.frames = frame_options_of(arguments);
  options.order = order_of(arguments);
  VESTA_ASSIGN(options.interval_ns, duration_of(arguments, "interval", options.interval_ns));
  VESTA_ASSIGN(options.window_ns, duration_of(arguments, "window", options.window_ns));
  VESTA_ASSIGN(options.duration_ns, duration_of(arguments, "duration", 0));
  VESTA_ASSIGN(options.count, arguments.integer("count", 0, 1, 1'000'000'000));
  if (options.interval_ns < kMinIntervalNs)
    return Error{ErrorCode::kUsage, "--interval must be 100ms or more", ""};
  if (options.window_ns / options.interval_ns > kMaxStretches) {
    return Error{ErrorCode::kUsage,
                 fmt::format("--window must be {} intervals or fewer", kMaxStretches),
                 "choose a longer --interval"};
  }
  VESTA_TRY(apply_sampling_flags(arguments, console, options.recording));
  VESTA_ASSIGN(const ChosenTargets chosen, choose_targets(arguments));
  options.what = chosen.what;
  options.recording.sampling.whole_host = chosen.whole_host;
  options.recording.sampling.targets = chosen.options;
  return run_live(options, console);
}

Result<int> run_top(const Arguments& arguments, Console& console) {
  if (names_targets(arguments)) return run_on_processes(arguments, console);
  if (arguments.positional.empty()) {
    return Error{ErrorCode::kUsage, "top needs SOURCE, or a live target: -p PID|NAME, -a",
                 "try vesta top --help"};
  }
  for (const Flag& flag : live_flags()) {
    if (arguments.has(flag.name)) {
      return Error{ErrorCode::kUsage, fmt::format("--{} applies to live targets only", flag.name),
                   "try vesta top -p PID|NAME"};
    }
  }
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, kTopRows));
  if (server_answers(arguments)) {
    return print_selector("/api/v1/top", {{"order", arguments.has("cum") ? "cum" : "flat"}},
                          arguments, options, console);
  }
  VESTA_ASSIGN(const FrameProfile frames, load_frames(arguments, console));
  return print_report(frames, top_report(frames, order_of(arguments), options), console);
}

}  // namespace

Command top_command() {
  Command c;
  c.name = "top";
  c.summary = "Print the hottest functions of a profile, or of running processes";
  c.arguments = "[SOURCE…]";
  c.description =
      "Several sources are merged. Rows show their own (flat) and their whole (cum) weight. With "
      "-p, -a or another target, top "
      "shows running processes live: on a terminal a screen that updates every second (q quits, p "
      "pauses, s sorts by self or cum, z starts over, / filters), otherwise one table after the "
      "other.";
  c.examples = {"vesta top cpu.pb.gz",
                "vesta top --cum --focus 'json\\.' cpu.pb.gz  # stacks that call into json",
                "vesta top -t alloc heap.pb.gz -n 10",
                "vesta top 'cpu{service_name=\"checkout\"}' --from -1h",
                "perf script | vesta top -",
                "vesta top -p nginx  # live, the last 10 seconds",
                "vesta top -a --count 1 > now.txt  # one table of the whole host"};
  c.flags = with_flags({{"cum", 0, "", "sort by cumulative weight"}},
                       {filter_flags(), report_flags(), difference_flags(), input_flags(),
                        target_flags(), live_flags(), without(sampling_flags(), {"no-inlines"})});
  c.run = run_top;
  return c;
}

}  // namespace vesta::cli
