// Trees: flame graphs, call trees, one function with its callers and callees.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "formats/flamegraph/flame_columns.h"
#include "reports/callers.h"
#include "reports/label_roots.h"
#include "reports/labelled_samples.h"
#include "reports/print/report.h"
#include "reports/print/report_parts.h"
#include "server/native/answer.h"

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

// The selection, and how `root_by` takes it apart.
Result<Selection> select_rooted(const ApiCall& call, const Question& question, LabelledSide& side) {
  const std::string_view label = call.parameter("root_by");
  if (label.empty()) return select(call, question);
  if (asks_for_labels(call)) {
    VESTA_ASSIGN(side.samples, select_samples(call, question));
    VESTA_ASSIGN(Selection all, select_all(call, question));
    side.total = all.total;
    return with_stacks_of(std::move(all), *side.samples);
  }
  VESTA_ASSIGN(SelectRequest request, select_request(call, question));
  request.group_by = {std::string(label)};
  Engine& engine = call.context.engine_of(question.file);
  VESTA_ASSIGN(side.groups, engine.select(call.caller.tenant, request));
  Selection whole = add_up(side.groups);
  whole.type = question.type;
  const bool is_of_series =
      std::ranges::any_of(side.groups, [](const Selection& group) { return !group.group.empty(); });
  if (!is_of_series && whole.total != 0) {
    VESTA_ASSIGN(side.samples, select_samples(call, question));
  }
  return whole;
}

FlameTree build_tree(const ApiCall& call, const Selection& whole, const LabelledSide& side,
                     const TreeOptions& options) {
  const std::string_view label = call.parameter("root_by");
  if (label.empty()) return build_flame_tree(whole, options);
  const LabelRoots roots = label_roots(label, nullptr, side);
  return build_flame_tree(roots.after, options);
}

FlameTree from_the_leaves(const ApiCall& call, const FlameTree& tree) {
  return inverted(tree, !call.parameter("root_by").empty());
}

Result<HttpResponse> flame(const ApiCall& call) {
  VESTA_ASSIGN(const TreeOptions options, read_tree_options(call));
  VESTA_ASSIGN(const bool is_inverted, read_flag(call, "inverted"));
  VESTA_ASSIGN(const Question question, read_question(call));
  LabelledSide side;
  VESTA_ASSIGN(const Selection selection, select_rooted(call, question, side));
  FlameTree tree = build_tree(call, selection, side, options);
  if (is_inverted) tree = from_the_leaves(call, tree);
  VESTA_ASSIGN(const AnswerBasis basis, read_basis(call, question, selection));
  return flame_answer(call, selection, std::move(tree), [&](JsonWriter& json, const FlameTree&) {
    write_answer_header(json, question, selection, basis);
  });
}

Result<HttpResponse> diff_flame(const ApiCall& call) {
  VESTA_TRY(read_word(call, "format", "json|columns|svg|html"));  // before the engine works
  VESTA_ASSIGN(TreeOptions options, read_tree_options(call));
  const PictureFormat* const picture = picture_format_named(call.parameter("format"));
  options.marks_inlined = picture != nullptr;
  VESTA_ASSIGN(const Comparison both, read_comparison(call));
  LabelledSide side_before;
  LabelledSide side_after;
  VESTA_ASSIGN(const Selection after, select_rooted(call, both.question, side_after));
  VESTA_ASSIGN(const Selection before, select_rooted(call, both.baseline, side_before));
  VESTA_ASSIGN(const ComparedAnswers compared, read_compared(call, both, before, after));
  const std::string_view label = call.parameter("root_by");
  LabelRoots roots;
  if (label.empty()) {
    roots = {{{&before, {}}}, {{&after, {}}}, {}};
  } else {
    roots = label_roots(label, &side_before, side_after);
  }
  FlameTree tree = build_flame_tree(roots.before, roots.after, compared.scale(), options,
                                    compared.comparison.baseline_factor);
  if (picture != nullptr) {
    VESTA_ASSIGN(tree, asked_subtree(call, std::move(tree)));
    const ReportHeader header =
        comparison_report_header(both, compared, after, tree.baseline_whole, tree.whole);
    const std::vector<FormatInfo> formats = list_formats();
    HttpResponse response = file_response(
        draw_flamegraph(header, tree, *picture, {.title = std::string(call.parameter("title"))}),
        *std::ranges::find(formats, call.parameter("format"), &FormatInfo::name));
    say_if_empty(response, before.profiles != 0 && after.profiles != 0, tree.size() > 1);
    return response;
  }
  return flame_answer(call, after, std::move(tree), [&](JsonWriter& json, const FlameTree& shown) {
    write_comparison_header(json, both, compared, before, after, shown.baseline_whole, shown.whole);
    json.key("baseline_answer").begin_object();
    write_answer_header(json, both.baseline, before, compared.before);
    json.end_object();
  });
}

Result<HttpResponse> tree(const ApiCall& call) {
  VESTA_ASSIGN(const TreeOptions options, read_tree_options(call));
  VESTA_ASSIGN(const std::string direction, read_word(call, "direction", "top-down|bottom-up"));
  VESTA_ASSIGN(const size_t nodes, read_count(call, "nodes", 1000, call.context.options.max_nodes));
  VESTA_ASSIGN(const size_t width, read_count(call, "width", 0, SIZE_MAX));
  LabelledSide side;
  VESTA_ASSIGN(Asked asked, read_asked(call, 0, [&](const ApiCall&, const Question& question) {
                 return select_rooted(call, question, side);
               }));
  asked.report.style.width = width;
  const bool is_inverted = direction == "bottom-up";
  FlameTree whole = build_tree(call, asked.selection, side, options);
  if (is_inverted) whole = from_the_leaves(call, whole);
  VESTA_ASSIGN(const FlameTree part, asked_subtree(call, std::move(whole)));
  // The heaviest ones, as commands show them, or what a picture of so many has room for.
  const bool by_rows = !call.parameter("rows").empty() || asked.report.min_share > 0;
  const std::vector<uint8_t> shown =
      by_rows ? heaviest_nodes(part, asked.report) : nodes_within(part, nodes);
  return report_answer(
      call, asked, part.whole, part.size() > 1,
      [&](const ReportHeader& header) {
        return tree_report(header, part, shown,
                           is_inverted ? TreeDirection::kBottomUp : TreeDirection::kTopDown,
                           asked.report);
      },
      [&](JsonWriter& json) {
        json.field("direction", direction);
        write_path(json, call);
        write_nodes(json, part, prune(part, shown));
      });
}

void write_calls(JsonWriter& json, std::string_view key, const FrameNames& names,
                 const std::vector<CallWeight>& calls) {
  json.key(key).begin_array();
  for (const CallWeight& call : calls) {
    if (call.name == 0) continue;  // called by nobody: the root
    json.begin_object();
    write_frame(json, names, call.name);
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
                 "send the name of a row of /api/v1/top"};
  }
  VESTA_ASSIGN(const Question question, read_question(call));
  VESTA_ASSIGN(const Selection selection, select(call, question));
  const FlameTree whole = build_flame_tree(selection, options);
  const auto name = find_name(*whole.names, function);
  if (!name) {
    return Error{ErrorCode::kNotFound, fmt::format("no function '{}' in this selection", function),
                 "send the whole name; /api/v1/top lists them"};
  }
  const FunctionView view = view_function(whole, *name);
  VESTA_ASSIGN(const AnswerBasis basis, read_basis(call, question, selection));
  JsonWriter json;
  json.begin_object();
  write_answer_header(json, question, selection, basis);
  json.key("function").begin_object();
  write_frame(json, *whole.names, *name);
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
      get_route("/api/v1/flame",
                {kSelectionParameters, kLabelFrameParameters, kStackParameters,
                 "group nodes path root_by format inverted"},
                flame),
      get_route("/api/v1/diff/flame",
                {kSelectionParameters, kLabelFrameParameters, kStackParameters, kBaselineParameters,
                 "scale group inlines relative nodes path root_by format title"},
                diff_flame),
      get_route("/api/v1/tree",
                {kSelectionParameters, kLabelFrameParameters, kStackParameters, kReportParameters,
                 "nodes rows width path root_by direction"},
                tree),
      get_route(
          "/api/v1/callers",
          {kSelectionParameters, kLabelFrameParameters, kStackParameters, "group nodes function"},
          callers),
  };
  return kRoutes;
}

}  // namespace vesta::server
