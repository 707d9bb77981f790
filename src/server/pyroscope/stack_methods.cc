// Merged stacks as flame graphs, trees, graphs and pprof; and two of them compared.
#include <google/v1/profile.pb.h>
#include <querier/v1/querier.pb.h>
#include <types/v1/types.pb.h>

#include <optional>

#include "formats/flamebearer/flame_encoding.h"
#include "formats/pprof/writer.h"
#include "formats/protobuf/wire.h"
#include "profile/merge/merge.h"
#include "reports/selection_profile.h"
#include "reports/selection_tree.h"
#include "server/pyroscope/call_graph_dot.h"
#include "server/pyroscope/query_api.h"
#include "server/pyroscope/request_fields.h"
#include "server/pyroscope/rpc_method.h"
#include "server/pyroscope/sample_labels.h"
#include "server/pyroscope/stack_selection.h"

namespace vesta::server {
namespace {

constexpr int kMaxIds = 10'000;
constexpr size_t kDotNodes = 100;

template <class Request>
std::optional<int64_t> max_nodes_of(const Request& request) {
  return request.has_max_nodes() ? std::optional(request.max_nodes()) : std::nullopt;
}

// What all requests for stacks have.
template <class Request>
Result<StacksQuery> read_query(const Request& request) {
  StacksQuery query;
  VESTA_ASSIGN(query.range, range_from_millis(request.start(), request.end()));
  VESTA_ASSIGN(query.type, read_type(request.profile_typeid()));
  VESTA_ASSIGN(query.selector, read_selector(request.label_selector()));
  return query;
}

template <class Strings, class Ids, class Read>
Status read_ids(const Strings& texts, Ids& ids, Read&& read) {
  if (texts.size() > kMaxIds) {
    return Error{ErrorCode::kUsage, "too many ids are selected", "send up to 10000 at a time"};
  }
  for (const std::string& text : texts) {
    VESTA_ASSIGN(auto id, read(text));
    ids.push_back(std::move(id));
  }
  return {};
}

void read_call_site(const types::v1::StackTraceSelector& selector, StacksQuery& query) {
  if (selector.has_go_pgo()) return;
  for (const auto& location : selector.call_site()) query.call_site.push_back(location.name());
}

Result<StacksQuery> read_stacks_query(const querier::v1::SelectMergeStacktracesRequest& request) {
  VESTA_ASSIGN(StacksQuery query, read_query(request));
  VESTA_TRY(read_ids(request.profile_id_selector(), query.profile_ids, read_profile_id));
  VESTA_TRY(read_ids(request.trace_id_selector(), query.samples.trace_ids, read_trace_id));
  VESTA_TRY(read_ids(request.span_selector(), query.samples.span_ids, read_span_id));
  if (!query.samples.trace_ids.empty() && !query.samples.span_ids.empty()) {
    return Error{ErrorCode::kUsage, "traces and spans cannot be selected together",
                 "send trace_id_selector or span_selector"};
  }
  read_call_site(request.stack_trace_selector(), query);
  return query;
}

template <class Graph>
void fill(const FlameBars& bars, const FlameLevels& levels, Graph& graph) {
  for (const std::string& name : bars.names) graph.add_names(name);
  for (const auto& level : levels.levels) {
    graph.add_levels()->mutable_values()->Add(level.begin(), level.end());
  }
  graph.set_total(levels.total);
  graph.set_max_self(levels.max_self);
}

// One profile with all services, as a pprof file has it.
std::string to_pprof(const Selection& selection, const types::v1::StackTraceSelector& selector) {
  ProfileBatch batch = to_profile_batch(selection);
  if (selector.has_go_pgo()) {
    batch = keep_leaves(batch, selector.go_pgo().keep_locations(),
                        selector.go_pgo().aggregate_callees());
  }
  return write_pprof(flatten(std::move(batch)));
}

// Without data, a flame graph is the root alone: clients read its total without a look whether
// there is a graph. Bytes of a tree are none then.
template <class Response>
void fill_tree(const Selection& selection, size_t max_nodes, bool as_bytes, Response& response) {
  const FlameBars bars = to_flame_bars(build_flame_tree(selection, {}), max_nodes);
  if (as_bytes) {
    response.set_tree(to_tree_bytes(bars));
  } else {
    fill(bars, to_levels(bars), *response.mutable_flamegraph());
  }
}

Result<std::string> select_merge_stacktraces(
    const QueryApi& api, const querier::v1::SelectMergeStacktracesRequest& request,
    const Caller& caller) {
  VESTA_ASSIGN(const StacksQuery query, read_stacks_query(request));
  VESTA_ASSIGN(const size_t max_nodes, read_max_nodes(max_nodes_of(request), api.options));
  if (!querier::v1::ProfileFormat_IsValid(request.format())) {
    return Error{ErrorCode::kUnsupported, "unknown profile format", ""};
  }
  VESTA_ASSIGN(const Selection selection, merge_stacks(api, query, caller));
  querier::v1::SelectMergeStacktracesResponse response;
  switch (request.format()) {
    case querier::v1::PROFILE_FORMAT_PPROF: {
      // The bytes are there already; the message would only hold them once more.
      WireWriter pprof;
      pprof.always_bytes(1, to_pprof(selection, request.stack_trace_selector()));
      WireWriter out;
      out.message(5, pprof);
      return out.take();
    }
    case querier::v1::PROFILE_FORMAT_DOT:
      response.set_dot(to_dot(selection, request.max_nodes() > 0 ? max_nodes : kDotNodes));
      break;
    default:
      fill_tree(selection, max_nodes, request.format() == querier::v1::PROFILE_FORMAT_TREE,
                response);
  }
  return response.SerializeAsString();
}

Result<querier::v1::SelectMergeSpanProfileResponse> select_merge_span_profile(
    const QueryApi& api, const querier::v1::SelectMergeSpanProfileRequest& request,
    const Caller& caller) {
  VESTA_ASSIGN(StacksQuery query, read_query(request));
  VESTA_TRY(read_ids(request.span_selector(), query.samples.span_ids, read_span_id));
  VESTA_ASSIGN(const size_t max_nodes, read_max_nodes(max_nodes_of(request), api.options));
  querier::v1::SelectMergeSpanProfileResponse response;
  Selection selection;
  // No span was asked for, so no sample is meant.
  if (!query.samples.span_ids.empty()) {
    VESTA_ASSIGN(selection, merge_stacks(api, query, caller));
  }
  fill_tree(selection, max_nodes, request.format() == querier::v1::PROFILE_FORMAT_TREE, response);
  return response;
}

Result<std::string> select_merge_profile(const QueryApi& api,
                                         const querier::v1::SelectMergeProfileRequest& request,
                                         const Caller& caller) {
  VESTA_ASSIGN(StacksQuery query, read_query(request));
  VESTA_TRY(read_ids(request.profile_id_selector(), query.profile_ids, read_profile_id));
  VESTA_TRY(read_ids(request.trace_id_selector(), query.samples.trace_ids, read_trace_id));
  VESTA_TRY(read_max_nodes(max_nodes_of(request), api.options));
  read_call_site(request.stack_trace_selector(), query);
  VESTA_ASSIGN(const Selection selection, merge_stacks(api, query, caller));
  return to_pprof(selection, request.stack_trace_selector());
}

Result<querier::v1::DiffResponse> diff(const QueryApi& api, const querier::v1::DiffRequest& request,
                                       const Caller& caller) {
  VESTA_ASSIGN(const StacksQuery left_query, read_stacks_query(request.left()));
  VESTA_ASSIGN(const StacksQuery right_query, read_stacks_query(request.right()));
  const auto& with_nodes = request.left().max_nodes() != 0 ? request.left() : request.right();
  VESTA_ASSIGN(const size_t max_nodes, read_max_nodes(max_nodes_of(with_nodes), api.options));
  VESTA_ASSIGN(const Selection left, merge_stacks(api, left_query, caller));
  VESTA_ASSIGN(const Selection right, merge_stacks(api, right_query, caller));
  const FlameBars bars =
      to_flame_bars(build_flame_tree(left, right, CompareScale::kAbsolute, {}), max_nodes);
  const FlameLevels levels = to_levels(bars);
  querier::v1::DiffResponse response;
  auto& graph = *response.mutable_flamegraph();
  fill(bars, levels, graph);
  graph.set_leftticks(levels.left_total);
  graph.set_rightticks(levels.right_total);
  return response;
}

}  // namespace

Result<Selection> merge_stacks(const QueryApi& api, const StacksQuery& query,
                               const Caller& caller) {
  SelectRequest request;
  VESTA_ASSIGN(SplitSelector split, split_selector(api, caller, query.selector, query.range));
  request.type = query.type;
  request.selector = std::move(split.series);
  request.range = query.range;
  request.samples = query.samples;
  request.samples.either = std::move(split.either);
  request.profile_ids = query.profile_ids;
  request.budget = budget_of(api.options, caller);
  VESTA_ASSIGN(auto selections, api.engine.select(caller.tenant, request));
  if (selections.empty()) return Error{ErrorCode::kIo, "the store returned no answer", ""};
  keep_call_site(selections[0], query.call_site);
  return std::move(selections[0]);
}

void add_stack_methods(Routes& routes, const QueryApiPtr& api) {
  add_querier_method<querier::v1::SelectMergeStacktracesResponse>(
      routes, api, "SelectMergeStacktraces", select_merge_stacktraces);
  add_querier_method(routes, api, "SelectMergeSpanProfile", select_merge_span_profile);
  add_querier_method<google::v1::Profile>(routes, api, "SelectMergeProfile", select_merge_profile);
  add_querier_method(routes, api, "Diff", diff);
}

}  // namespace vesta::server
