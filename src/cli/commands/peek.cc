#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_report.h"
#include "cli/source.h"
#include "profile/label_filter.h"
#include "reports/function_table.h"

namespace vesta::cli {
namespace {

Result<int> run_peek(const Arguments& given, Console& console) {
  Arguments arguments = given;
  const std::string pattern = arguments.positional[0];
  arguments.positional.erase(arguments.positional.begin());
  VESTA_ASSIGN(const auto regex, compile_regex(pattern, "the pattern"));
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, 0));
  if (server_answers(arguments)) return print_graph(arguments, options, pattern, console);
  VESTA_ASSIGN(const FrameProfile frames, load_frames(arguments, console));
  const CallGraph graph = build_call_graph(frames, order_of(arguments));
  const auto matches = [&](const FunctionRow& row) {
    return RE2::PartialMatch(graph.nodes.names->text(row.name), *regex);
  };
  if (std::ranges::none_of(graph.nodes.rows, matches)) {
    return Error{ErrorCode::kNoData, fmt::format("no function matches '{}'", pattern),
                 "vesta top SOURCE lists the functions"};
  }
  return print_report(
      frames, graph_report(header_for(frames, options), graph, regex.get(), options), console);
}

}  // namespace

Command peek_command() {
  Command c;
  c.name = "peek";
  c.summary = "Print the callers and callees of matching functions";
  c.arguments = "RE SOURCE…";
  c.examples = {"vesta peek 'runtime\\.mallocgc' cpu.pb.gz", "vesta peek -o json memcpy cpu.pb.gz"};
  c.min_arguments = 2;
  c.flags =
      with_flags({{"cum", 0, "", "sort by cumulative weight"},
                  {"min-edge-share", 0, "PERCENT", "drop calls below this share of the total"}},
                 {filter_flags(), report_flags(), difference_flags(), input_flags()});
  c.run = run_peek;
  return c;
}

}  // namespace vesta::cli
