// A source file with the weight of each line: GET /api/v1/source.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "profile/frame_name.h"
#include "reports/source_lines.h"
#include "server/native/answer.h"
#include "server/native/source_text.h"

namespace vesta::server {
namespace {

// Of a single function, so many lines before the first with weight and after the last are shown.
constexpr int64_t kContext = 20;

struct ShownLines {
  size_t first = 0;  // place in the list of lines
  size_t end = 0;
};

ShownLines shown_lines(size_t count, const LineWeights& weights, bool is_of_function) {
  if (!is_of_function || weights.empty()) return {0, count};
  const auto place = [&](int64_t line) {
    return static_cast<size_t>(std::clamp<int64_t>(line, 0, static_cast<int64_t>(count)));
  };
  const int64_t first = std::max<int64_t>(weights.begin()->first, 1);
  const int64_t last = std::clamp<int64_t>(weights.rbegin()->first, first, INT64_MAX - kContext);
  return {place(first - 1 - kContext), place(last + kContext)};
}

Result<HttpResponse> source(const ApiCall& call) {
  VESTA_ASSIGN(TreeOptions options, read_tree_options(call));
  options.group = Granularity::kLine;
  const std::string_view path = call.parameter("source_file");
  const std::string_view function = call.parameter("function");
  if (path.empty()) {
    return Error{ErrorCode::kUsage, "the parameter 'source_file' is missing",
                 "send the 'file' of a row of /api/v1/top"};
  }
  VESTA_ASSIGN(const Question question, read_question(call));
  VESTA_ASSIGN(const Selection selection, select(call, question));
  VESTA_ASSIGN(const AnswerBasis basis, read_basis(call, question, selection));
  const auto weights = line_weights(build_flame_tree(selection, options), path, function);
  // What no profile of the caller speaks of is none of the caller's business.
  if (!weights) {
    return Error{ErrorCode::kNotFound, fmt::format("no frame of this selection is in {}", path),
                 "send the whole path; /api/v1/top with group=file lists them"};
  }
  const auto text = read_source(call.context.options.sources, path);
  const std::vector<std::string_view> lines =
      text.ok() ? lines_of(*text) : std::vector<std::string_view>();
  const ShownLines shown = shown_lines(lines.size(), *weights, !function.empty());
  JsonWriter json;
  json.begin_object();
  write_answer_header(json, question, selection, basis);
  json.field("file", path).field("function", function).field("reachable", text.ok());
  json.field("reason", text.ok() ? std::string() : text.error().message);
  json.field("first_line", uint64_t{shown.first + 1}).key("lines").begin_array();
  for (size_t i = shown.first; i < shown.end; ++i) json.string(lines[i]);
  json.end_array().key("weights").begin_array();
  for (const auto& [line, weight] : *weights) {
    json.begin_object().field("line", line).field("self", weight.flat);
    json.field("total", weight.cum).end_object();
  }
  json.end_array();
  write_answer_coverage(json, selection);
  return json_response(json.end_object().take());
}

}  // namespace

std::span<const ApiRoute> source_routes() {
  static const std::array kRoutes = {
      get_route("/api/v1/source", {kSelectionParameters, kStackParameters, "source_file function"},
                source),
  };
  return kRoutes;
}

}  // namespace vesta::server
