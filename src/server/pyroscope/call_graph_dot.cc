#include "server/pyroscope/call_graph_dot.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/units.h"
#include "base/utf8.h"
#include "reports/call_graph.h"

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
  TreeOptions options;
  options.marks_inlined = true;
  const CallGraph graph = build_call_graph(build_flame_tree(selection, options), TopOrder::kByCum);
  const FunctionTable& nodes = graph.nodes;
  const std::string_view unit = selection.type.sample_unit;
  const auto share = [&](int64_t part) {
    return format_percent(static_cast<double>(part), static_cast<double>(selection.total));
  };

  std::string dot = fmt::format(
      "digraph \"{}\" {{\n"
      "node [shape=box fontname=\"sans-serif\"]\n"
      "edge [fontname=\"sans-serif\"]\n",
      escaped(selection.type.id()));
  const size_t drawn = std::min(nodes.rows.size(), max_nodes);
  std::unordered_map<uint32_t, size_t> numbers;
  for (size_t at = 0; at < drawn; ++at) {
    const FunctionRow& row = nodes.rows[at];
    numbers.emplace(row.name, at + 1);
    dot += fmt::format("N{} [label=\"{}\\n{} ({})\\nof {} ({})\"]\n", at + 1,
                       escaped(nodes.names->text(row.name)), format_value(row.flat, unit),
                       share(row.flat), format_value(row.cum, unit), share(row.cum));
  }
  for (const CallEdge& edge : graph.edges) {
    const auto from = numbers.find(edge.from);
    const auto to = numbers.find(edge.to);
    if (from == numbers.end() || to == numbers.end()) continue;
    dot += fmt::format("N{} -> N{} [label=\"{}\"{}]\n", from->second, to->second,
                       format_value(edge.weight, unit), edge.inlined ? " style=dotted" : "");
  }
  return dot + "}\n";
}

}  // namespace vesta::server
