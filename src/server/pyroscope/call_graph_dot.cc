#include "server/pyroscope/call_graph_dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/units.h"
#include "base/utf8.h"
#include "profile/call_graph.h"
#include "query/selection_profile.h"

namespace vesta::server {
namespace {

// Inside of double quotes. Graphviz reads \n and friends as layout, so backslashes count too.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : replace_invalid_utf8(text)) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out;
}

}  // namespace

std::string to_dot(const Selection& selection, size_t max_nodes) {
  // Without expressions there is nothing that could be wrong.
  const auto frames = resolve_frames(to_merged_profile(selection), {});
  if (!frames) return "digraph profile {\n}\n";
  const CallGraph graph = build_call_graph(*frames, TopOrder::kByCum);
  const std::string_view unit = frames->unit;
  const auto share = [&](int64_t part) {
    return format_percent(static_cast<double>(part), static_cast<double>(frames->total));
  };

  std::string dot = fmt::format(
      "digraph \"{}\" {{\n"
      "node [shape=box fontname=\"sans-serif\"]\n"
      "edge [fontname=\"sans-serif\"]\n",
      escaped(selection.type.id()));
  const size_t drawn = std::min(graph.nodes.size(), max_nodes);
  std::unordered_map<uint32_t, size_t> numbers;
  for (size_t at = 0; at < drawn; ++at) {
    const TopRow& row = graph.nodes[at];
    numbers.emplace(row.frame.value, at + 1);
    dot += fmt::format("N{} [label=\"{}\\n{} ({})\\nof {} ({})\"]\n", at + 1,
                       escaped(display_name(*frames, row.frame)), format_value(row.flat, unit),
                       share(row.flat), format_value(row.cum, unit), share(row.cum));
  }
  for (const CallEdge& edge : graph.edges) {
    const auto from = numbers.find(edge.from.value);
    const auto to = numbers.find(edge.to.value);
    if (from == numbers.end() || to == numbers.end()) continue;
    dot += fmt::format("N{} -> N{} [label=\"{}\"{}]\n", from->second, to->second,
                       format_value(edge.weight, unit), edge.inlined ? " style=dotted" : "");
  }
  return dot + "}\n";
}

}  // namespace vesta::server
