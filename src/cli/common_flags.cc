#include "cli/common_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/units.h"
#include "cli/server_client.h"
#include "formats/registry.h"
#include "profile/profile_types.h"
#include "reports/function_table.h"

namespace vesta::cli {

std::vector<Flag> input_flags() {
  std::vector<Flag> flags = file_flags();
  for (Flag& flag : server_flags()) flags.push_back(std::move(flag));
  return flags;
}

std::vector<Flag> file_flags() {
  return {
      {"base", 0, "SOURCE", "subtract this earlier reading of the same cumulative profile first"},
      {"input-format", 0, "NAME", "read the input as this format instead of detecting it",
       readable_format_names()},
      {"max-size", 0, "BYTES",
       "refuse inputs larger than this, before or after decompression (default 2GiB)"},
      {"max-depth", 0, "N", "cut deeper stacks at the root (default 4096); reports count the cuts"},
      {"allow-negative", 0, "", "accept negative values: the input is a difference of profiles"},
      {"timestamps", 0, "", "keep the time of each sample, if the format has it"},
      {"otlp-layout",
       0,
       "VERSION",
       "OTLP profiles version of the input, if it cannot be detected",
       {"1.8", "1.9", "1.10"}},
      {"seconds", 0, "N", "URLs: record for this many seconds"},
      {"timeout", 0, "TIME", "URLs: time limit (default: one minute more than --seconds)"},
  };
}

std::vector<Flag> filter_flags() {
  return {
      {"type", 't', "TYPE", "profile type: a name in the file, or " + short_type_list()},
      {"focus", 0, "RE", "keep only stacks with a matching frame", {}, true},
      {"ignore", 0, "RE", "drop stacks with a matching frame", {}, true},
      {"hide", 0, "RE", "hide matching frames", {}, true},
      {"show", 0, "RE", "show only matching frames", {}, true},
      {"show-from",
       0,
       "RE",
       "start stacks at the outermost matching frame; drop stacks without one",
       {},
       true},
      {"prune-from", 0, "RE", "end stacks at the innermost matching frame", {}, true},
      {"tag-focus",
       0,
       "FILTER",
       "keep only samples with a matching label: key=regex, regex, or key=128kb:512kb",
       {},
       true},
      {"tag-ignore", 0, "FILTER", "drop samples with a matching label", {}, true},
      {"tag-root", 0, "NAMES", "comma-separated labels whose values become root frames"},
      {"tag-leaf", 0, "NAMES", "comma-separated labels whose values become leaf frames"},
      {"granularity",
       'g',
       "LEVEL",
       "level of one row (default function)",
       {"function", "file-function", "file", "line", "address", "binary"}},
      {"no-inlines", 0, "", "merge inlined functions into their callers"},
      {"relative", 0, "", "show percentages of the filtered total"},
  };
}

std::vector<Flag> label_name_flags() {
  return {
      {"tag-show", 0, "RE", "show only labels with a matching name"},
      {"tag-hide", 0, "RE", "hide labels with a matching name"},
  };
}

std::vector<Flag> difference_flags() {
  return {
      {"diff-base", 0, "SOURCE",
       "show the difference from this profile; percentages are of its total"},
      {"normalize", 0, "", "with --diff-base: first scale the profile to the total of the other"},
      {"drop-negative", 0, "", "drop rows with a negative value"},
  };
}

std::vector<Flag> report_flags() {
  return {
      {"output", 'o', "FORMAT", "text, json or csv (default text)", {"text", "json", "csv"}},
      {"unit", 'u', "UNIT", "print values in this unit: ms, s, MB …"},
      {"nodes", 'n', "N", "show at most N rows (0: all); a last line says how many were left out"},
      {"min-share", 0, "PERCENT", "drop rows below this share of the total"},
  };
}

std::vector<Flag> global_flags() {
  return {
      {"color", 0, "WHEN", "colours in the output (default auto)", {"auto", "always", "never"}},
      {"no-color", 0, "", "the same as --color never"},
      {"help", 'h', "", "show this help"},
  };
}

std::vector<Flag> without(std::vector<Flag> flags, std::initializer_list<std::string_view> names) {
  std::erase_if(
      flags, [&](const Flag& flag) { return std::ranges::find(names, flag.name) != names.end(); });
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

namespace {

std::vector<std::string> comma_list(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (comma != 0) out.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return out;
}

}  // namespace

FrameFilters filters_of(const Arguments& a) {
  FrameFilters filters;
  filters.focus = a.all("focus");
  filters.ignore = a.all("ignore");
  filters.hide = a.all("hide");
  filters.show = a.all("show");
  filters.show_from = a.all("show-from");
  filters.prune_from = a.all("prune-from");
  filters.tag_focus = a.all("tag-focus");
  filters.tag_ignore = a.all("tag-ignore");
  return filters;
}

FrameOptions frame_options_of(const Arguments& a) {
  FrameOptions options;
  options.filters = filters_of(a);
  // The flag takes no other words.
  if (const auto level = parse_granularity(a.get("granularity"))) options.granularity = *level;
  options.inlines = !a.has("no-inlines");
  options.relative = a.has("relative");
  return options;
}

LabelFrames label_frames_of(const Arguments& a) {
  LabelFrames out;
  out.root = comma_list(a.get("tag-root"));
  out.leaf = comma_list(a.get("tag-leaf"));
  out.unit = a.get("unit");
  return out;
}

namespace {

Result<double> share_of(const Arguments& a, const char* flag) {
  if (!a.has(flag)) return 0.0;
  std::string text = a.get(flag);
  if (text.ends_with('%')) text.pop_back();
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(percent >= 0 && percent <= 100)) {
    return Error{ErrorCode::kUsage, fmt::format("--{} cannot be '{}'", flag, a.get(flag)),
                 "use a percentage such as 0.5%"};
  }
  return percent / 100;
}

// The unit to print values in. pprof's "auto" and "minimum" mean a fitting one, as no unit does.
Result<std::string> unit_of(const Arguments& a) {
  const std::string name = a.get("unit");
  if (name.empty() || name == "auto" || name == "minimum") return std::string();
  if (parse_unit(name).kind == UnitKind::kOther) {
    return Error{ErrorCode::kUsage, fmt::format("--unit cannot be '{}'", name),
                 "use one of: ns, us, ms, s, min, hr, B, kB, MB, GB, TB, count"};
  }
  return name;
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
  VESTA_ASSIGN(options.unit, unit_of(a));
  const int64_t rows =
      options.format == ReportFormat::kText ? static_cast<int64_t>(default_rows) : 0;
  VESTA_ASSIGN(const int64_t nodes, a.integer("nodes", rows, 0, INT64_MAX));
  options.max_rows = static_cast<size_t>(nodes);
  VESTA_ASSIGN(options.min_share, share_of(a, "min-share"));
  VESTA_ASSIGN(options.min_edge_share, share_of(a, "min-edge-share"));
  options.drop_negative = a.has("drop-negative");
  return options;
}

Status check_unit(const Arguments& a, std::string_view unit) {
  VESTA_ASSIGN(const std::string name, unit_of(a));
  if (name.empty() || parse_unit(name).kind == parse_unit(unit).kind) return {};
  return Error{ErrorCode::kUsage, fmt::format("--unit cannot be '{}'", name),
               fmt::format("the values of this profile are {}", unit)};
}

TopOrder order_of(const Arguments& a) {
  return a.has("cum") ? TopOrder::kByCum : TopOrder::kByFlat;
}

}  // namespace vesta::cli
