#include "cli/server_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/common_flags.h"

namespace vesta::cli {

bool server_answers(const Arguments& arguments, size_t sources) {
  // A difference is made of whole profiles.
  for (const char* flag : {"base", "diff-base", "normalize", "drop-negative"}) {
    if (arguments.has(flag)) return false;
  }
  return arguments.positional.size() == sources &&
         std::ranges::all_of(arguments.positional, is_selector);
}

ServerClient::Parameters report_parameters(const Arguments& arguments,
                                           const ReportOptions& options) {
  ServerClient::Parameters parameters = range_of(arguments);
  for (const std::string flag : {"focus", "ignore", "hide", "show", "show-from", "prune-from",
                                 "tag-focus", "tag-ignore", "tag-show", "tag-hide"}) {
    std::string name = flag;
    std::ranges::replace(name, '-', '_');
    for (const std::string& expression : arguments.all(flag))
      parameters.emplace_back(name, expression);
  }
  const LabelFrames frames = label_frames_of(arguments);
  for (const std::string& label : frames.root) parameters.emplace_back("tag_root", label);
  for (const std::string& label : frames.leaf) parameters.emplace_back("tag_leaf", label);
  if (arguments.has("granularity")) parameters.emplace_back("group", arguments.get("granularity"));
  if (arguments.has("no-inlines")) parameters.emplace_back("inlines", "false");
  if (arguments.has("relative")) parameters.emplace_back("relative", "true");
  const std::string output = arguments.get("output", "text");
  parameters.emplace_back("format", output == "json" ? "report" : output);
  parameters.emplace_back("rows", fmt::format("{}", options.max_rows));
  if (options.min_share > 0)
    parameters.emplace_back("min_share", fmt::format("{}", options.min_share));
  if (!options.unit.empty()) parameters.emplace_back("unit", options.unit);
  if (options.style.color) parameters.emplace_back("color", "true");
  return parameters;
}

Result<HttpAnswer> ask_server(std::string_view path, const ServerClient::Parameters& parameters,
                              const Arguments& arguments) {
  VESTA_ASSIGN(const ReadOptions limits, read_options_of(arguments));
  VESTA_ASSIGN(const ServerClient client, ServerClient::from(arguments));
  auto answer = client.ask(path, parameters, limits.max_input_bytes);
  if (!answer.ok()) {
    Error error = std::move(answer).error();
    if (error.code == ErrorCode::kNoData) error.hint = kSeriesHint;
    return error;
  }
  if (answer->header("vesta-answer") == "empty")
    return Error{ErrorCode::kNoData, "no samples match the selector", kSeriesHint};
  return answer;
}

Result<int> print_answer(std::string_view path, const ServerClient::Parameters& parameters,
                         const Arguments& arguments, Console& console) {
  VESTA_ASSIGN(const HttpAnswer answer, ask_server(path, parameters, arguments));
  VESTA_TRY(console.print(answer.body));
  if (answer.header("vesta-answer") != "filtered") return kOk;
  console.note("no sample passes the filters");
  return kNoData;
}

Result<int> print_selector(std::string_view path, const ServerClient::Parameters& own,
                           const Arguments& arguments, const ReportOptions& options,
                           Console& console) {
  auto parameters = report_parameters(arguments, options);
  parameters.emplace_back("query", query_of(arguments.positional[0], arguments));
  parameters.insert(parameters.end(), own.begin(), own.end());
  return print_answer(path, parameters, arguments, console);
}

Result<int> print_graph(const Arguments& arguments, const ReportOptions& options,
                        const std::string& pattern, Console& console) {
  ServerClient::Parameters parameters = {{"order", arguments.has("cum") ? "cum" : "flat"}};
  if (!pattern.empty()) parameters.emplace_back("match", pattern);
  if (options.min_edge_share > 0)
    parameters.emplace_back("min_edge_share", fmt::format("{}", options.min_edge_share));
  return print_selector("/api/v1/graph", parameters, arguments, options, console);
}

}  // namespace vesta::cli
