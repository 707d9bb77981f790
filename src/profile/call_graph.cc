#include "profile/call_graph.h"

#include <algorithm>
#include <string>

#include "profile/edge_table.h"
#include "profile/stack_totals.h"

namespace vesta {
namespace {

// Edges by the frame at one of their ends, in the order that they have.
ListTable<FrameId, uint32_t> by_frame(const std::vector<CallEdge>& edges, FrameId CallEdge::*end,
                                      size_t frames) {
  std::vector<uint32_t> order(edges.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, {}, [&](uint32_t i) { return edges[i].*end; });
  ListTable<FrameId, uint32_t> table;  // frame 0, the empty one, has no edges
  auto next = order.begin();
  for (size_t frame = 1; frame < frames; ++frame) {
    for (; next != order.end() && edges[*next].*end == FrameId(frame); ++next) table.push(*next);
    table.close();
  }
  return table;
}

std::vector<CallEdge> pick(const std::vector<CallEdge>& edges, std::span<const uint32_t> at) {
  std::vector<CallEdge> out;
  out.reserve(at.size());
  for (const uint32_t i : at) out.push_back(edges[i]);
  return out;
}

}  // namespace

std::vector<CallEdge> CallGraph::callers_of(FrameId frame) const {
  return pick(edges, in_edges[frame]);
}

std::vector<CallEdge> CallGraph::callees_of(FrameId frame) const {
  return pick(edges, out_edges[frame]);
}

CallGraph build_call_graph(const FrameProfile& profile, TopOrder order) {
  CallGraph graph;
  graph.nodes = top_table(profile, order);
  EdgeTable table;
  const StackTotals totals(profile);
  for (size_t at = 0; at < profile.stacks.size(); ++at) {
    const FrameStackId id(at);
    visit_edges(table, id, profile.stacks[id], [&](EdgeTable::Edge& edge) {
      edge.weight = saturating_add(edge.weight, totals.value[at]);
    });
  }
  std::vector<std::string> names(profile.frames.size());
  const auto name = [&](FrameId id) -> const std::string& {
    std::string& known = names[id.index()];
    if (known.empty()) known = display_name(profile, id);
    return known;
  };
  for (const EdgeTable::Edge& edge : table.edges()) {
    graph.edges.push_back({edge.from, edge.to, edge.weight, edge.inlined});
    name(edge.from);
    name(edge.to);
  }
  std::sort(graph.edges.begin(), graph.edges.end(), [&](const CallEdge& a, const CallEdge& b) {
    if (saturating_abs(a.weight) != saturating_abs(b.weight))
      return saturating_abs(a.weight) > saturating_abs(b.weight);
    if (const int by_caller = name(a.from).compare(name(b.from)); by_caller != 0)
      return by_caller < 0;
    if (const int by_callee = name(a.to).compare(name(b.to)); by_callee != 0) return by_callee < 0;
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  graph.in_edges = by_frame(graph.edges, &CallEdge::to, profile.frames.size());
  graph.out_edges = by_frame(graph.edges, &CallEdge::from, profile.frames.size());
  return graph;
}

}  // namespace vesta
