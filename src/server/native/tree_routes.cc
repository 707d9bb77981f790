// Trees: flame graphs, call trees, one function with its callers and callees.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "formats/table/report.h"
#include "query/callers.h"
#include "query/label_roots.h"
#include "query/selection_profile.h"
#include "server/native/answer.h"
#include "server/native/flame_columns.h"

namespace vesta::server {
namespace {

Result<FlameTree> asked_subtree(const ApiCall& call, FlameTree tree) {
  std::vector<std::string> path;
  for (const std::string_view step : call.request.parameters("path")) path.emplace_back(step);
  if (path.empty()) return tree;
  return subtree(tree, path);
}

void write_path(JsonWriter& json, const ApiCall& call) {
  json.key("path").begin_array();
  for (const std::string_view step : call.request.parameters("path")) json.string(step);
  json.end_array();
}

HttpResponse columns_response(std::string body) {
  HttpResponse response;
  response.content_type = kFlameColumnsType;
  response.body = std::move(body);
  return response;
}

// As columns where they are asked for, else as JSON.
Result<bool> wants_columns(const ApiCall& call) {
  if (call.parameter("format").empty() &&
      call.request.header("accept").find(kFlameColumnsType) != std::string_view::npos) {
    return true;
  }
  VESTA_ASSIGN(const std::string format, read_word(call, "format", "json|columns"));
  return format == "columns";
}

// The flame graph of a tree that is made already, behind the header that `write_header(tree)`
// writes. What columns count themselves is in the header too, so that both forms read alike.
Result<HttpResponse> flame_answer(
    const ApiCall& call, const Selection& selection, FlameTree whole,
    const std::function<void(JsonWriter&, const FlameTree&)>& write_header) {
  VESTA_ASSIGN(const size_t nodes, read_nodes(call));
  VESTA_ASSIGN(const bool columns, wants_columns(call));
  VESTA_ASSIGN(const FlameTree tree, asked_subtree(call, std::move(whole)));
  const PrunedTree pruned = prune(tree, nodes);
  JsonWriter json;
  json.begin_object();
  write_header(json, tree);
  json.field("group", call.parameter("group").empty() ? "function" : call.parameter("group"));
  write_path(json, call);
  if (columns) {
    json.field("root", tree.text(0)).field("baseline", tree.has_baseline());
    json.key("cut").begin_object().field("nodes", pruned.total_cut_nodes);
    json.field("self", pruned.total_cut_weight).end_object();
  } else {
    write_nodes(json, tree, pruned);
  }
  write_answer_coverage(json, selection);
  std::string text = json.end_object().take();
  if (!columns) return json_response(std::move(text));
  return columns_response(write_flame_columns(text, tree, pruned));
}

// A selection, and how it is taken apart where `root_by` asks for it.
struct Rooted {
  Selection whole;
  LabelledSide side;
};

Result<Rooted> select_rooted(const ApiCall& call, const Question& question) {
  Rooted rooted;
  const std::string_view label = call.parameter("root_by");
  if (label.empty()) {
    VESTA_ASSIGN(rooted.whole, select(call, question));
    return rooted;
  }
  SamplesRequest request;
  VESTA_ASSIGN(request.select, select_request(call, question));
  request.select.group_by = {std::string(label)};
  Engine& engine = call.context.engine_of(question.file);
  VESTA_ASSIGN(rooted.side.groups, engine.select(call.caller.tenant, request.select));
  rooted.whole = add_up(rooted.side.groups);
  rooted.whole.type = question.type;
  const bool is_of_series = std::ranges::any_of(
      rooted.side.groups, [](const Selection& group) { return !group.group.empty(); });
  if (is_of_series || rooted.whole.total == 0) return rooted;
  request.select.group_by.clear();
  request.keep_links = false;
  VESTA_ASSIGN(rooted.side.samples, engine.samples(call.caller.tenant, request));
  return rooted;
}

FlameTree build_tree(const ApiCall& call, const Rooted& rooted, const TreeOptions& options) {
  const std::string_view label = call.parameter("root_by");
  if (label.empty()) return build_flame_tree(rooted.whole, options);
  const LabelRoots roots = label_roots(label, nullptr, rooted.side);
  return build_flame_tree(roots.after, options);
}

FlameTree build_tree(const ApiCall& call, const Rooted& before, const Rooted& after,
                     const ComparedAnswers& compared, const TreeOptions& options) {
  const std::string_view label = call.parameter("root_by");
  const double factor = compared.comparison.baseline_factor;
  if (label.empty())
    return build_flame_tree(before.whole, after.whole, compared.scale(), options, factor);
  const LabelRoots roots = label_roots(label, &before.side, after.side);
  return build_flame_tree(roots.before, roots.after, compared.scale(), options, factor);
}

FlameTree from_the_leaves(const ApiCall& call, const FlameTree& tree) {
  return inverted(tree, !call.parameter("root_by").empty());
}

Result<HttpResponse> flame(const ApiCall& call) {
  VESTA_ASSIGN(const TreeOptions options, read_tree_options(call));
  VESTA_ASSIGN(const bool is_inverted, read_flag(call, "inverted"));
  VESTA_ASSIGN(const Question question, read_question(call));
  VESTA_ASSIGN(const Rooted selected, select_rooted(call, question));
  FlameTree tree = build_tree(call, selected, options);
  if (is_inverted) tree = from_the_leaves(call, tree);
  VESTA_ASSIGN(const AnswerBasis basis, read_basis(call, question, selected.whole));
  return flame_answer(call, selected.whole, std::move(tree),
                      [&](JsonWriter& json, const FlameTree&) {
                        write_answer_header(json, question, selected.whole, basis);
                      });
}

Result<HttpResponse> diff_flame(const ApiCall& call) {
  VESTA_ASSIGN(const TreeOptions options, read_tree_options(call));
  VESTA_ASSIGN(const Comparison both, read_comparison(call));
  VESTA_ASSIGN(const Rooted after, select_rooted(call, both.question));
  VESTA_ASSIGN(const Rooted before, select_rooted(call, both.baseline));
  VESTA_ASSIGN(const ComparedAnswers compared,
               read_compared(call, both, before.whole, after.whole));
  return flame_answer(call, after.whole, build_tree(call, before, after, compared, options),
                      [&](JsonWriter& json, const FlameTree& tree) {
                        write_comparison_header(json, both, compared, before.whole, after.whole,
                                                tree.baseline_whole, tree.whole);
                        json.key("baseline_answer").begin_object();
                        write_answer_header(json, both.baseline, before.whole, compared.before);
                        json.end_object();
                      });
}

Result<HttpResponse> tree(const ApiCall& call) {
  VESTA_ASSIGN(const TreeOptions options, read_tree_options(call));
  VESTA_ASSIGN(const std::string direction, read_word(call, "direction", "top-down|bottom-up"));
  VESTA_ASSIGN(const std::string format, read_word(call, "format", "json|text|csv"));
  VESTA_ASSIGN(const size_t nodes, read_count(call, "nodes", 1000, call.context.options.max_nodes));
  VESTA_ASSIGN(const Question question, read_question(call));
  VESTA_ASSIGN(const Rooted selected, select_rooted(call, question));
  const Selection& selection = selected.whole;
  if (format == "json") {
    VESTA_ASSIGN(const AnswerBasis basis, read_basis(call, question, selection));
    FlameTree whole = build_tree(call, selected, options);
    if (direction == "bottom-up") whole = from_the_leaves(call, whole);
    VESTA_ASSIGN(const FlameTree part, asked_subtree(call, std::move(whole)));
    JsonWriter json;
    json.begin_object();
    write_answer_header(json, question, selection, basis);
    json.field("direction", direction);
    write_path(json, call);
    write_nodes(json, part, prune(part, nodes));
    write_answer_coverage(json, selection);
    return json_response(json.end_object().take());
  }
  // Text and CSV are those of the command line.
  if (options.group == GroupBy::kBinary || !call.request.parameters("path").empty() ||
      !call.parameter("root_by").empty()) {
    return Error{ErrorCode::kUsage, "text and CSV have no group=binary, no path and no root_by",
                 "use format=json"};
  }
  FrameOptions frame_options;
  frame_options.filters = read_filters(call);
  if (options.group == GroupBy::kLine) frame_options.granularity = Granularity::kLine;
  if (options.group == GroupBy::kFile) frame_options.granularity = Granularity::kFile;
  VESTA_ASSIGN(const FrameProfile frames,
               resolve_frames(to_merged_profile(selection), frame_options));
  const TreeDirection way =
      direction == "bottom-up" ? TreeDirection::kBottomUp : TreeDirection::kTopDown;
  ReportOptions report;
  report.format = format == "csv" ? ReportFormat::kCsv : ReportFormat::kText;
  report.max_rows = nodes;
  HttpResponse response;
  response.content_type = format == "csv" ? "text/csv; charset=utf-8" : "text/plain; charset=utf-8";
  response.body =
      tree_report(frames, build_call_tree(frames, way, ChildOrder::kByTotal), way, report);
  return response;
}

void write_calls(JsonWriter& json, std::string_view key, const FrameNames& names,
                 const std::vector<CallWeight>& calls) {
  json.key(key).begin_array();
  for (const CallWeight& call : calls) {
    if (call.name == 0) continue;  // called by nobody: the root
    json.begin_object();
    write_frame_name(json, names, call.name);
    json.field("weight", call.weight).end_object();
  }
  json.end_array();
}

Result<HttpResponse> callers(const ApiCall& call) {
  VESTA_ASSIGN(const TreeOptions options, read_tree_options(call));
  VESTA_ASSIGN(const size_t nodes, read_nodes(call));
  const std::string_view function = call.parameter("function");
  if (function.empty()) {
    return Error{ErrorCode::kUsage, "the parameter 'function' is missing",
                 "it is the name of a row of /api/v1/top"};
  }
  VESTA_ASSIGN(const Question question, read_question(call));
  VESTA_ASSIGN(const Selection selection, select(call, question));
  const FlameTree whole = build_flame_tree(selection, options);
  const auto name = find_name(*whole.names, function);
  if (!name) {
    return Error{ErrorCode::kNotFound, fmt::format("no function '{}' in this selection", function),
                 "names are matched as a whole; /api/v1/top lists them"};
  }
  const FunctionView view = view_function(whole, *name);
  VESTA_ASSIGN(const AnswerBasis basis, read_basis(call, question, selection));
  JsonWriter json;
  json.begin_object();
  write_answer_header(json, question, selection, basis);
  json.key("function").begin_object();
  write_frame_name(json, *whole.names, *name);
  json.field("flat", view.flat).field("cum", view.cum).end_object();
  write_calls(json, "callers", *whole.names, view.callers);
  write_calls(json, "callees", *whole.names, view.callees);
  for (const auto& [key, part] :
       {std::pair("caller_tree", &view.caller_tree), std::pair("callee_tree", &view.callee_tree)}) {
    json.key(key).begin_object();
    write_nodes(json, *part, prune(*part, nodes));
    json.end_object();
  }
  write_answer_coverage(json, selection);
  return json_response(json.end_object().take());
}

}  // namespace

std::span<const ApiRoute> tree_routes() {
  static const std::array kRoutes = {
      ApiRoute{"GET",
               "/api/v1/flame",
               Scope::kRead,
               {kSeriesParameters, kSampleParameters, kStackParameters,
                "group nodes path root_by format inverted"},
               flame},
      ApiRoute{"GET",
               "/api/v1/diff/flame",
               Scope::kRead,
               {kSeriesParameters, kSampleParameters, kStackParameters, kBaselineParameters,
                "scale group nodes path root_by format"},
               diff_flame},
      ApiRoute{"GET",
               "/api/v1/tree",
               Scope::kRead,
               {kSeriesParameters, kSampleParameters, kStackParameters,
                "group nodes path root_by format direction"},
               tree},
      ApiRoute{"GET",
               "/api/v1/callers",
               Scope::kRead,
               {kSeriesParameters, kSampleParameters, kStackParameters, "group nodes function"},
               callers},
  };
  return kRoutes;
}

}  // namespace vesta::server
