#include "reports/call_graph.h"

#include <algorithm>
#include <utility>

#include "profile/flame_tree.h"
#include "profile/frame_names.h"
#include "profile/stack_totals.h"
#include "reports/edge_table.h"

namespace vesta {
namespace {

std::vector<CallEdge> pick(const std::vector<CallEdge>& edges, const std::vector<uint32_t>& at) {
  std::vector<CallEdge> out;
  out.reserve(at.size());
  for (const uint32_t i : at) out.push_back(edges[i]);
  return out;
}

EdgeTable edges_of(const FrameProfile& profile) {
  EdgeTable table;
  const StackTotals totals(profile);
  for (size_t at = 0; at < profile.stacks.size(); ++at) {
    const auto stack = profile.stacks[FrameStackId(at)];
    // From the root to the leaf: the outermost call counts.
    for (size_t i = stack.size(); i-- > 1;) {
      const FrameRef caller = stack[i];
      const FrameRef callee = stack[i - 1];
      if (caller.frame() == callee.frame()) continue;
      EdgeTable::Edge& edge = table.find(caller.frame().value, callee.frame().value);
      if (edge.last_seen == at + 1) continue;
      edge.last_seen = static_cast<uint32_t>(at + 1);
      edge.inlined = edge.inlined && callee.inlined();
      edge.weight = saturating_add(edge.weight, totals.value[at]);
    }
  }
  return table;
}

EdgeTable edges_of(const FlameTree& tree) {
  EdgeTable table;
  const Children children(tree.parent);
  constexpr uint32_t kLeave = uint32_t{1} << 31;
  std::vector<uint32_t> pending{0};
  while (!pending.empty()) {
    const uint32_t node = pending.back() & ~kLeave;
    const bool leaves = (pending.back() & kLeave) != 0;
    pending.pop_back();
    const uint32_t parent = tree.parent[node];
    if (parent != 0 && tree.name[parent] != tree.name[node]) {
      // How often it is on the path stands in last_seen.
      EdgeTable::Edge& edge = table.find(tree.name[parent], tree.name[node]);
      if (leaves) {
        --edge.last_seen;
      } else if (edge.last_seen++ == 0) {
        edge.inlined = edge.inlined && tree.inlined[node] != 0;
        edge.weight = saturating_add(edge.weight, tree.weights.total[node]);
      }
    }
    if (leaves) continue;
    if (node != 0) pending.push_back(node | kLeave);
    for (const uint32_t child : children.of(node)) pending.push_back(child);
  }
  return table;
}

CallGraph graph_of(FunctionTable nodes, EdgeTable table, TopOrder order) {
  CallGraph graph;
  graph.nodes = std::move(nodes);
  choose_rows(graph.nodes, {.order = order});
  const FrameNames& names = *graph.nodes.names;
  for (const EdgeTable::Edge& edge : table.edges())
    graph.edges.push_back({edge.from, edge.to, edge.weight, edge.inlined});
  std::ranges::sort(graph.edges, [&](const CallEdge& a, const CallEdge& b) {
    if (saturating_abs(a.weight) != saturating_abs(b.weight))
      return saturating_abs(a.weight) > saturating_abs(b.weight);
    if (const int by_caller = names.compare(a.from, b.from); by_caller != 0) return by_caller < 0;
    if (const int by_callee = names.compare(a.to, b.to); by_callee != 0) return by_callee < 0;
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  graph.in_edges.resize(names.size());
  graph.out_edges.resize(names.size());
  for (uint32_t i = 0; i < graph.edges.size(); ++i) {
    graph.in_edges[graph.edges[i].to].push_back(i);
    graph.out_edges[graph.edges[i].from].push_back(i);
  }
  return graph;
}

}  // namespace

std::vector<CallEdge> CallGraph::callers_of(uint32_t name) const {
  return pick(edges, in_edges[name]);
}

std::vector<CallEdge> CallGraph::callees_of(uint32_t name) const {
  return pick(edges, out_edges[name]);
}

CallGraph build_call_graph(const FrameProfile& profile, TopOrder order) {
  return graph_of(function_table(profile), edges_of(profile), order);
}

CallGraph build_call_graph(const FlameTree& tree, TopOrder order) {
  return graph_of(function_table(tree), edges_of(tree), order);
}

}  // namespace vesta
