#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/source.h"
#include "profile/label_filter.h"

namespace vesta::cli {
namespace {

Result<int> run(const Arguments& given, Console& console) {
  Arguments arguments = given;
  const std::string pattern = arguments.positional[0];
  arguments.positional.erase(arguments.positional.begin());
  VESTA_ASSIGN(const auto regex, compile_regex(pattern, "the pattern"));
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, 0));
  VESTA_ASSIGN(const FrameProfile frames, load_frames(arguments, console));
  std::vector<FrameId> matching;
  for (size_t i = 1; i < frames.frames.size(); ++i) {
    if (RE2::PartialMatch(display_name(frames, FrameId(i)), *regex)) matching.emplace_back(i);
  }
  if (matching.empty()) {
    return Error{ErrorCode::kNoData, fmt::format("no function matches '{}'", pattern),
                 "vesta top SOURCE lists the functions"};
  }
  return print_report(
      frames,
      graph_report(frames, build_call_graph(frames, order_of(arguments)), matching, options),
      console);
}

}  // namespace

Command peek_command() {
  Command c;
  c.name = "peek";
  c.summary = "Who calls the functions that match, and what they call";
  c.arguments = "RE SOURCE…";
  c.examples = {"vesta peek 'runtime\\.mallocgc' cpu.pb.gz", "vesta peek -o json memcpy cpu.pb.gz"};
  c.min_arguments = 2;
  c.flags = with_flags(
      {{"cum", 'c', "", "sort by cumulative weight"},
       {"min-edge-share", 0, "PERCENT", "leave out calls below this share of the total"}},
      {filter_flags(), report_flags(), difference_flags(), input_flags()});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
