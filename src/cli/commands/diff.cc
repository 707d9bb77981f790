#include <fmt/format.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"
#include "cli/source.h"
#include "formats/registry.h"

namespace vesta::cli {
namespace {

constexpr size_t kRows = 40;

Result<int> draw(const FrameProfile& frames, const std::string& path, const Arguments& arguments,
                 Console& console) {
  const PictureFormat* format = picture_format_for_path(path);
  if (format == nullptr) {
    return Error{ErrorCode::kUsage, fmt::format("cannot write a difference to {}", path),
                 "-o is text, json, csv, or a file that ends in .svg or .html"};
  }
  PictureOptions options;
  options.title = fmt::format("{} → {}", source_title(arguments.positional[0]),
                              source_title(arguments.positional[1]));
  VESTA_TRY(write_file(path, draw_flamegraph(frames, *format, options)));
  console.note(fmt::format("wrote {}", path));
  return kOk;
}

// Files are compared as pprof compares them. What a server has of two ranges or versions is seldom
// of one length.
Result<DiffScale> scale_of(const Arguments& arguments, const std::string& mode) {
  const bool of_server =
      is_selector(arguments.positional[0]) && is_selector(arguments.positional[1]);
  if (mode == "normalized") {
    if (!arguments.has("scale") || arguments.get("scale") == "share") return DiffScale::kNormalized;
    return Error{ErrorCode::kUsage, "--mode normalized is --scale share",
                 "give one of them, or --mode relative for the order of rows"};
  }
  const std::string scale = arguments.get("scale", of_server ? "rate" : "totals");
  if (scale == "rate") return DiffScale::kRate;
  return scale == "share" ? DiffScale::kNormalized : DiffScale::kAbsolute;
}

Result<int> run(const Arguments& given, Console& console) {
  Arguments arguments = given;
  const std::string output = arguments.get("output", "text");
  const bool to_file = output != "text" && output != "json" && output != "csv";
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, kRows));
  VESTA_ASSIGN(const ProfileBatch before, load_source(arguments.positional[0], arguments, "base-"));
  VESTA_ASSIGN(const ProfileBatch after, load_source(arguments.positional[1], arguments));
  const std::string mode = arguments.get("mode", "absolute");
  VESTA_ASSIGN(const DiffScale scale, scale_of(arguments, mode));
  VESTA_ASSIGN(const FrameProfile frames, compare_profiles(before, after, arguments.get("type"),
                                                           scale, frame_options_of(arguments)));
  VESTA_TRY(check_unit(arguments, frames.unit));
  if (frames.weights.empty())
    return Error{ErrorCode::kNoData, "neither profile has samples that pass the filters", ""};
  if (to_file) return draw(frames, output, arguments, console);
  const DiffOrder order = mode == "relative" ? DiffOrder::kRelative : DiffOrder::kAbsolute;
  const TopOrder by = order_of(arguments);
  VESTA_TRY(console.print(diff_report(frames, diff_table(frames, by), order, options, by)));
  return kOk;
}

}  // namespace

Command diff_command() {
  Command c;
  c.name = "diff";
  c.summary = "What changed between two profiles: the functions that got slower first";
  c.arguments = "BEFORE AFTER";
  c.description =
      "Rows are sorted by change: what got slower first, what got faster last; with --nodes, the "
      "largest changes of either kind stay. --scale rate compares per second of profile time, and "
      "so per instance: the default for selectors of a server. --scale totals compares values as "
      "they are, as pprof does: the default for files. --scale share first scales AFTER to the "
      "total of BEFORE. --mode relative sorts by the change against each function's own baseline; "
      "normalized is --scale share.";
  c.examples = {
      "vesta diff before.pb.gz after.pb.gz",
      "vesta diff --mode normalized monday.pb.gz tuesday.pb.gz",
      "vesta diff before.jfr after.jfr -t alloc -o diff.html  # differential flame graph",
      "vesta diff 'cpu{version=\"1\"}' 'cpu{version=\"2\"}' --from -1h",
      "vesta diff 'cpu{}' 'cpu{}' --base-from -25h --base-to -24h --from -1h  # against yesterday"};
  c.min_arguments = 2;
  c.max_arguments = 2;
  c.flags = with_flags(
      {{"mode",
        'm',
        "MODE",
        "how to compare (default absolute)",
        {"absolute", "relative", "normalized"}},
       {"scale",
        0,
        "SCALE",
        "what to compare (default rate for selectors, totals for files)",
        {"rate", "totals", "share"}},
       {"base-from", 0, "TIME", "selectors: start of the range of BEFORE (default --from)"},
       {"base-to", 0, "TIME", "selectors: end of the range of BEFORE (default --to)"},
       {"cum", 'c', "", "sort by change of cumulative weight"},
       {"output", 'o', "OUT", "text, json, csv, or a file: diff.svg, diff.html (default text)"},
       {"unit", 'u', "UNIT", "print values in this unit: ms, s, MB …"},
       {"nodes", 'n', "N", "show at most N rows; 0 = all. What is left out is said"},
       {"min-share", 0, "PERCENT", "leave out rows below this share of the larger total"}},
      {without(filter_flags(), {"tag-root", "tag-leaf"}), without(input_flags(), {"base"})});
  c.run = run;
  return c;
}

}  // namespace vesta::cli
