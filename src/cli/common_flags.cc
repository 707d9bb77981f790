#include "cli/common_flags.h"

#include <fmt/format.h>

#include <charconv>

#include "cli/server_client.h"
#include "formats/registry.h"

namespace vesta::cli {

std::vector<Flag> input_flags() {
  std::vector<Flag> flags = file_flags();
  for (Flag& flag : server_flags()) flags.push_back(std::move(flag));
  return flags;
}

std::vector<Flag> file_flags() {
  return {
      {"base", 0, "SOURCE", "subtract this earlier reading of the same cumulative profile first"},
      {"input-format", 0, "NAME", "do not guess the format of the input", readable_format_names()},
      {"max-size", 0, "BYTES",
       "refuse inputs larger than this, before or after decompression (default 2GiB)"},
      {"max-depth", 0, "N",
       "cut stacks deeper than this at the root (default 4096); cuts are counted"},
      {"allow-negative", 0, "",
       "negative values are expected: the input is a difference of profiles"},
      {"timestamps", 0, "",
       "keep the time of each sample where the format has it, instead of adding samples up"},
      {"otlp-layout",
       0,
       "VERSION",
       "which OTLP profiles layout the input has, when it does not show",
       {"1.8", "1.9", "1.10"}},
  };
}

std::vector<Flag> filter_flags() {
  return {
      {"type", 't', "TYPE",
       "profile type: a name in the file, or cpu, off-cpu, wall, alloc, inuse, mutex, block, "
       "goroutine"},
      {"focus", 0, "RE", "only stacks with a frame that matches"},
      {"ignore", 0, "RE", "no stacks with a frame that matches"},
      {"hide", 0, "RE", "leave matching frames out of their stacks"},
      {"show", 0, "RE", "leave all other frames out of their stacks"},
      {"show-from", 0, "RE",
       "cut what is above the outermost matching frame; drop stacks without one"},
      {"tag-focus", 0, "FILTER",
       "only samples whose labels match: key=regex, regex, or key=128kb:512kb"},
      {"tag-ignore", 0, "FILTER", "no samples whose labels match"},
      {"granularity",
       'g',
       "LEVEL",
       "what counts as one row (default function)",
       {"function", "file", "line", "address"}},
  };
}

std::vector<Flag> report_flags() {
  return {
      {"output", 'o', "FORMAT", "text, json or csv (default text)", {"text", "json", "csv"}},
      {"unit", 'u', "UNIT", "print values in this unit: ms, s, MB …"},
      {"nodes", 'n', "N", "show at most N rows; 0 = all. What is left out is said"},
      {"min-share", 0, "PERCENT", "leave out rows below this share of the total"},
  };
}

std::vector<Flag> global_flags() {
  return {
      {"color", 0, "WHEN", "colours in the output (default auto)", {"auto", "always", "never"}},
      {"no-color", 0, "", "the same as --color never"},
      {"help", 'h', "", "show this help"},
  };
}

std::vector<Flag> without(std::vector<Flag> flags, std::string_view name) {
  std::erase_if(flags, [&](const Flag& flag) { return flag.name == name; });
  return flags;
}

std::vector<Flag> with_flags(std::vector<Flag> own,
                             std::initializer_list<std::vector<Flag>> groups) {
  for (const std::vector<Flag>& group : groups) own.insert(own.end(), group.begin(), group.end());
  for (Flag& flag : global_flags()) own.push_back(std::move(flag));
  return own;
}

Result<ReadOptions> read_options_of(const Arguments& arguments) {
  ReadOptions options;
  VESTA_ASSIGN(options.max_input_bytes, arguments.bytes("max-size", options.max_input_bytes));
  options.max_decoded_bytes = options.max_input_bytes;
  VESTA_ASSIGN(
      const int64_t depth,
      arguments.integer("max-depth", static_cast<int64_t>(options.max_stack_depth), 1, 1'000'000));
  options.max_stack_depth = static_cast<size_t>(depth);
  options.allow_negative = arguments.has("allow-negative");
  options.keep_timestamps = arguments.has("timestamps");
  const std::string layout = arguments.get("otlp-layout");
  if (layout == "1.8") options.otlp_layout = OtlpLayout::kV1_8;
  if (layout == "1.9") options.otlp_layout = OtlpLayout::kV1_9;
  if (layout == "1.10") options.otlp_layout = OtlpLayout::kV1_10;
  return options;
}

FrameFilters filters_of(const Arguments& a) {
  FrameFilters filters;
  filters.focus = {a.get("focus")};
  filters.ignore = {a.get("ignore")};
  filters.hide = {a.get("hide")};
  filters.show = {a.get("show")};
  filters.show_from = {a.get("show-from")};
  filters.tag_focus = a.get("tag-focus");
  filters.tag_ignore = a.get("tag-ignore");
  return filters;
}

FrameOptions frame_options_of(const Arguments& a) {
  FrameOptions options;
  options.filters = filters_of(a);
  const std::string level = a.get("granularity", "function");
  if (level == "file") options.granularity = Granularity::kFile;
  if (level == "line") options.granularity = Granularity::kLine;
  if (level == "address") options.granularity = Granularity::kAddress;
  return options;
}

namespace {

Result<double> share_of(const Arguments& a, double fallback) {
  if (!a.has("min-share")) return fallback;
  std::string text = a.get("min-share");
  if (text.ends_with('%')) text.pop_back();
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(percent >= 0 && percent <= 100)) {
    return Error{ErrorCode::kUsage, fmt::format("--min-share cannot be '{}'", a.get("min-share")),
                 "it is a percentage such as 0.5%"};
  }
  return percent / 100;
}

}  // namespace

Result<ReportOptions> report_options_of(const Arguments& a, const Console& console,
                                        size_t default_rows) {
  ReportOptions options;
  const std::string output = a.get("output", "text");
  options.format = output == "json"  ? ReportFormat::kJson
                   : output == "csv" ? ReportFormat::kCsv
                                     : ReportFormat::kText;
  if (options.format == ReportFormat::kText) options.style = console.out_style();
  options.unit = a.get("unit");
  const int64_t rows =
      options.format == ReportFormat::kText ? static_cast<int64_t>(default_rows) : 0;
  VESTA_ASSIGN(const int64_t nodes, a.integer("nodes", rows, 0, INT64_MAX));
  options.max_rows = static_cast<size_t>(nodes);
  VESTA_ASSIGN(options.min_share, share_of(a, 0));
  return options;
}

TopOrder order_of(const Arguments& a) {
  return a.has("cum") ? TopOrder::kByCum : TopOrder::kByFlat;
}

}  // namespace vesta::cli
