#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "base/units.h"
#include "reports/print/report.h"
#include "reports/print/report_parts.h"

namespace vesta {
namespace {

// The rows that are asked for, in their order.
FunctionTable shown_rows(const FunctionTable& nodes, const re2::RE2* only,
                         const ReportOptions& options) {
  FunctionTable out = nodes;
  out.rows.clear();
  const double least = options.min_share * static_cast<double>(nodes.whole);
  for (const FunctionRow& row : nodes.rows) {
    if (only != nullptr && !RE2::PartialMatch(nodes.names->text(row.name), *only)) continue;
    const bool is_negative = row.flat < 0 || (row.flat == 0 && row.cum < 0);
    if ((options.drop_negative && is_negative) ||
        (options.max_rows != 0 && out.rows.size() >= options.max_rows) ||
        static_cast<double>(saturating_abs(row.cum)) < least) {
      ++out.cut_rows;
      out.cut_flat = saturating_add(out.cut_flat, row.flat);
    } else {
      out.rows.push_back(row);
    }
  }
  return out;
}

std::string edge_line(const FrameNames& names, const ValueFormat& format, const CallEdge& edge,
                      uint32_t other, int64_t cum, const TextStyle& style) {
  return fmt::format("{:>56} {:>7} |   {}{}\n", format(edge.weight),
                     format_percent(static_cast<double>(edge.weight), static_cast<double>(cum)),
                     printable(names.text(other)), style.dim(edge.inlined ? " (inline)" : ""));
}

// The calls that are large enough to show.
std::vector<CallEdge> shown_edges(const ReportHeader& p, std::span<const CallEdge> edges,
                                  const ReportOptions& options) {
  const double least = options.min_edge_share * static_cast<double>(p.total);
  std::vector<CallEdge> out;
  std::ranges::copy_if(edges, std::back_inserter(out), [&](const CallEdge& edge) {
    return static_cast<double>(saturating_abs(edge.weight)) >= least;
  });
  return out;
}

std::string text(const ReportHeader& p, const CallGraph& graph, const FunctionTable& shown,
                 const ReportOptions& options) {
  const std::string rule = std::string(65, '-') + "+" + std::string(13, '-') + "\n";
  const ValueFormat format(p.unit, options, smallest_weight(shown.rows), p.total);
  const double total = static_cast<double>(p.total);
  std::string out =
      header_text(p) + basis_text(p, options.style) + losses_text(p.losses, options.style) + rule;
  out += options.style.bold(fmt::format("{:>10} {:>7} {:>7} {:>10} {:>7} {:>10} {:>7} | {}", "Flat",
                                        "Flat%", "Sum%", "Cum", "Cum%", "Calls", "Calls%",
                                        "Callers above, callees below")) +
         "\n" + rule;
  int64_t sum = 0;
  for (const FunctionRow& row : shown.rows) {
    for (const CallEdge& edge : shown_edges(p, graph.callers_of(row.name), options)) {
      out += edge_line(*shown.names, format, edge, edge.from, row.cum, options.style);
    }
    sum = saturating_add(sum, row.flat);
    out += fmt::format("{:>10} {:>7} {:>7} {:>10} {:>7} {:>18} | {}\n", format(row.flat),
                       format_percent(static_cast<double>(row.flat), total),
                       format_percent(static_cast<double>(sum), total), format(row.cum),
                       format_percent(static_cast<double>(row.cum), total), "",
                       options.style.bold(printable(shown.names->text(row.name))));
    for (const CallEdge& edge : shown_edges(p, graph.callees_of(row.name), options)) {
      out += edge_line(*shown.names, format, edge, edge.to, row.cum, options.style);
    }
    out += rule;
  }
  return out + cut_text(shown.cut_rows, shown.cut_flat, p.total, options.style);
}

void write_edges(JsonWriter& json, const FrameNames& names, const std::vector<CallEdge>& edges,
                 uint32_t CallEdge::*end) {
  json.begin_array();
  for (const CallEdge& edge : edges) {
    json.begin_object();
    write_frame(json, names, edge.*end);
    json.field("weight", edge.weight).field("inlined", edge.inlined).end_object();
  }
  json.end_array();
}

void write_rows(JsonWriter& json, const ReportHeader& p, const CallGraph& graph,
                const FunctionTable& shown, const ReportOptions& options) {
  const FrameNames& names = *shown.names;
  json.key("rows").begin_array();
  for (const FunctionRow& row : shown.rows) {
    json.begin_object();
    write_frame(json, names, row.name);
    json.field("flat", row.flat).field("cum", row.cum);
    json.key("callers");
    write_edges(json, names, shown_edges(p, graph.callers_of(row.name), options), &CallEdge::from);
    json.key("callees");
    write_edges(json, names, shown_edges(p, graph.callees_of(row.name), options), &CallEdge::to);
    json.end_object();
  }
  json.end_array();
  write_cut(json, shown.cut_rows, "flat", shown.cut_flat);
}

std::string json(const ReportHeader& p, const CallGraph& graph, const FunctionTable& shown,
                 const ReportOptions& options) {
  JsonWriter out(1);
  out.begin_object();
  write_json_header(out, p);
  write_json_basis(out, p);
  write_rows(out, p, graph, shown, options);
  write_coverage(out, p.named, p.losses);
  return out.end_object().take() + "\n";
}

std::string csv(const ReportHeader& p, const CallGraph& graph, const FunctionTable& shown,
                const ReportOptions& options) {
  std::string out = "caller,callee,weight,inlined\n";
  for (const FunctionRow& row : shown.rows) {
    for (const CallEdge& edge : shown_edges(p, graph.callees_of(row.name), options)) {
      out += fmt::format("{},{},{},{}\n", csv_field(shown.names->text(edge.from)),
                         csv_field(shown.names->text(edge.to)), edge.weight, edge.inlined ? 1 : 0);
    }
  }
  return out;
}

}  // namespace

void write_graph_rows(JsonWriter& json, const ReportHeader& header, const CallGraph& graph,
                      const re2::RE2* only, const ReportOptions& options) {
  write_rows(json, header, graph, shown_rows(graph.nodes, only, options), options);
}

std::string graph_report(const ReportHeader& header, const CallGraph& graph, const re2::RE2* only,
                         const ReportOptions& options) {
  const FunctionTable shown = shown_rows(graph.nodes, only, options);
  if (options.format == ReportFormat::kJson) return json(header, graph, shown, options);
  if (options.format == ReportFormat::kCsv) return csv(header, graph, shown, options);
  return text(header, graph, shown, options);
}

}  // namespace vesta
