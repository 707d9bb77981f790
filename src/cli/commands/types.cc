#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/source.h"

namespace vesta::cli {
namespace {

Result<int> run_types(const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, 0));
  VESTA_ASSIGN(const auto batch, load_sources(arguments.positional, arguments, console));
  VESTA_TRY(console.print(types_report(list_types(*batch), options)));
  return kOk;
}

}  // namespace

Command types_command() {
  Command c;
  c.name = "types";
  c.summary = "List the profile types of a source with their totals";
  c.arguments = "SOURCE…";
  c.examples = {"vesta types recording.jfr", "vesta types heap.pb.gz -o json"};
  c.min_arguments = 1;
  c.flags = with_flags(
      {{"output", 'o', "FORMAT", "text, json or csv (default text)", {"text", "json", "csv"}}},
      {input_flags()});
  c.run = run_types;
  return c;
}

}  // namespace vesta::cli
