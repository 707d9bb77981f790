#include <fmt/format.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/common_flags.h"
#include "cli/server_client.h"
#include "cli/server_report.h"
#include "cli/source.h"
#include "formats/registry.h"
#include "reports/function_changes.h"
#include "reports/function_table.h"

namespace vesta::cli {
namespace {

constexpr size_t kDiffRows = 40;

Result<const PictureFormat*> picture_of(const std::string& path) {
  if (const PictureFormat* format = picture_format_for_path(path)) return format;
  return Error{ErrorCode::kUsage,
               fmt::format("cannot write a comparison to {}: unknown format", path),
               "use -o text, json, csv, or a file with the extension .svg or .html"};
}

std::string title_of(const Arguments& arguments) {
  return fmt::format("{} → {}", source_title(arguments.positional[0]),
                     source_title(arguments.positional[1]));
}

Result<int> save(const std::string& path, const std::string& picture, Console& console) {
  VESTA_TRY(write_file(path, picture));
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
    return Error{ErrorCode::kUsage, "--mode normalized contradicts --scale: it means --scale share",
                 "use one of them, or --mode relative for the order of rows"};
  }
  const std::string scale = arguments.get("scale", of_server ? "rate" : "totals");
  if (scale == "rate") return DiffScale::kRate;
  return scale == "share" ? DiffScale::kNormalized : DiffScale::kAbsolute;
}

ChangeOrder order_of(const Arguments& arguments, const std::string& mode) {
  if (mode == "relative") return ChangeOrder::kRelative;
  return arguments.has("cum") ? ChangeOrder::kCum : ChangeOrder::kFlat;
}

Error nothing_passes() {
  return {ErrorCode::kNoData, "neither profile has samples that pass the filters", ""};
}

// What the API calls them.
std::string_view scale_word(DiffScale scale) {
  switch (scale) {
    case DiffScale::kAbsolute:
      return "absolute";
    case DiffScale::kRate:
      return "rate";
    case DiffScale::kNormalized:
      return "normalized";
  }
  return "";
}

std::string_view order_word(ChangeOrder order) {
  switch (order) {
    case ChangeOrder::kFlat:
      return "growth";
    case ChangeOrder::kCum:
      return "cum_growth";
    case ChangeOrder::kRelative:
      return "relative_growth";
  }
  return "";
}

// The server compares; `output` is a file to draw to, or what it prints.
Result<int> ask(const Arguments& arguments, const ReportOptions& options, DiffScale scale,
                const std::string& mode, const PictureFormat* picture, Console& console) {
  auto parameters = report_parameters(arguments, options);
  parameters.emplace_back("query", query_of(arguments.positional[1], arguments));
  parameters.emplace_back("baseline_query", query_of(arguments.positional[0], arguments));
  for (auto& [name, value] : range_of(arguments, "base-"))
    parameters.emplace_back("baseline_" + name, std::move(value));
  parameters.emplace_back("scale", scale_word(scale));
  if (picture == nullptr) {
    parameters.emplace_back("order", order_word(order_of(arguments, mode)));
    return print_answer("/api/v1/diff", parameters, arguments, console);
  }
  // Those of tables; a picture shows all.
  std::erase_if(parameters, [](const auto& parameter) {
    return parameter.first == "format" || parameter.first == "rows" || parameter.first == "unit" ||
           parameter.first == "min_share" || parameter.first == "color";
  });
  parameters.emplace_back("format", *picture == PictureFormat::kSvg ? "svg" : "html");
  parameters.emplace_back("title", title_of(arguments));
  VESTA_ASSIGN(const HttpAnswer answer, ask_server("/api/v1/diff/flame", parameters, arguments));
  if (answer.header("vesta-answer") == "filtered") return nothing_passes();
  return save(arguments.get("output"), answer.body, console);
}

Result<int> run_diff(const Arguments& arguments, Console& console) {
  const std::string output = arguments.get("output", "text");
  const PictureFormat* picture = nullptr;
  if (output != "text" && output != "json" && output != "csv") {
    VESTA_ASSIGN(picture, picture_of(output));
  }
  VESTA_ASSIGN(const ReportOptions options, report_options_of(arguments, console, kDiffRows));
  const std::string mode = arguments.get("mode", "absolute");
  VESTA_ASSIGN(const DiffScale scale, scale_of(arguments, mode));
  if (server_answers(arguments, 2)) return ask(arguments, options, scale, mode, picture, console);
  VESTA_ASSIGN(const ProfileBatch before, load_source(arguments.positional[0], arguments, "base-"));
  VESTA_ASSIGN(const ProfileBatch after, load_source(arguments.positional[1], arguments));
  VESTA_ASSIGN(const FrameProfile frames, compare_profiles(before, after, arguments.get("type"),
                                                           scale, frame_options_of(arguments)));
  VESTA_TRY(check_unit(arguments, frames.unit));
  if (frames.weights.empty()) return nothing_passes();
  if (picture != nullptr) {
    return save(output, draw_flamegraph(frames, *picture, {.title = title_of(arguments)}), console);
  }
  FunctionTable table = diff_table(frames);
  choose_changes(table, order_of(arguments, mode), options.max_rows, options.min_share);
  VESTA_TRY(console.print(diff_report(header_for(frames, options), table, options)));
  return kOk;
}

}  // namespace

Command diff_command() {
  Command c;
  c.name = "diff";
  c.summary = "Compare two profiles, slower functions first";
  c.arguments = "BEFORE AFTER";
  c.description =
      "Rows are sorted by change: slower functions first, faster ones last; --nodes keeps the "
      "largest changes of both kinds. --scale rate compares per second of profile time, and so per "
      "instance (default for selectors). --scale totals compares values unscaled, as pprof does "
      "(default for files). --scale share first scales AFTER to the total of BEFORE. --mode "
      "relative sorts by the change relative to each function's baseline; --mode normalized means "
      "--scale share.";
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
       {"cum", 0, "", "sort by change of cumulative weight"},
       {"output", 'o', "OUT", "text, json, csv, or a file: diff.svg, diff.html (default text)"},
       {"unit", 'u', "UNIT", "print values in this unit: ms, s, MB …"},
       {"nodes", 'n', "N", "show at most N rows (0: all); a last line says how many were left out"},
       {"min-share", 0, "PERCENT", "drop rows below this share of the larger total"}},
      {without(filter_flags(), {"tag-root", "tag-leaf"}), without(input_flags(), {"base"})});
  c.run = run_diff;
  return c;
}

}  // namespace vesta::cli
