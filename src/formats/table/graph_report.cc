#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "base/units.h"
#include "formats/table/report.h"
#include "formats/table/report_parts.h"

namespace vesta {
namespace {

using Shown = ShownRows<TopRow>;

std::vector<TopRow> only_these(const std::vector<TopRow>& rows, const std::vector<FrameId>& only) {
  if (only.empty()) return rows;
  std::vector<TopRow> out;
  std::ranges::copy_if(rows, std::back_inserter(out), [&](const TopRow& row) {
    return std::ranges::binary_search(only, row.frame);
  });
  return out;
}

std::string edge_line(const FrameProfile& p, const ValueFormat& format, const CallEdge& edge,
                      FrameId other, int64_t cum, const TextStyle& style) {
  return fmt::format("{:>56} {:>7} |   {}{}\n", format(edge.weight),
                     format_percent(static_cast<double>(edge.weight), static_cast<double>(cum)),
                     printable(display_name(p, other)), style.dim(edge.inlined ? " (inline)" : ""));
}

// The calls that are large enough to show.
std::vector<CallEdge> shown_edges(const FrameProfile& p, std::span<const CallEdge> edges,
                                  const ReportOptions& options) {
  const double least = options.min_edge_share * static_cast<double>(p.total);
  std::vector<CallEdge> out;
  std::ranges::copy_if(edges, std::back_inserter(out), [&](const CallEdge& edge) {
    return static_cast<double>(saturating_abs(edge.weight)) >= least;
  });
  return out;
}

std::string text(const FrameProfile& p, const CallGraph& graph, const Shown& shown,
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
  for (const TopRow& row : shown.rows) {
    for (const CallEdge& edge : shown_edges(p, graph.callers_of(row.frame), options)) {
      out += edge_line(p, format, edge, edge.from, row.cum, options.style);
    }
    sum = saturating_add(sum, row.flat);
    out += fmt::format("{:>10} {:>7} {:>7} {:>10} {:>7} {:>18} | {}\n", format(row.flat),
                       format_percent(static_cast<double>(row.flat), total),
                       format_percent(static_cast<double>(sum), total), format(row.cum),
                       format_percent(static_cast<double>(row.cum), total), "",
                       options.style.bold(printable(display_name(p, row.frame))));
    for (const CallEdge& edge : shown_edges(p, graph.callees_of(row.frame), options)) {
      out += edge_line(p, format, edge, edge.to, row.cum, options.style);
    }
    out += rule;
  }
  return out + cut_text(shown.cut_rows, shown.cut_weight, p.total, options.style);
}

void write_edges(JsonWriter& json, const FrameProfile& p, const std::vector<CallEdge>& edges,
                 FrameId CallEdge::*end) {
  json.begin_array();
  for (const CallEdge& edge : edges) {
    json.begin_object();
    write_frame(json, p, edge.*end);
    json.field("weight", edge.weight).field("inlined", edge.inlined).end_object();
  }
  json.end_array();
}

std::string json(const FrameProfile& p, const CallGraph& graph, const Shown& shown,
                 const ReportOptions& options) {
  JsonWriter out(1);
  out.begin_object();
  write_json_header(out, p.type, p.unit, p.total, p.duration_ns, p.time_ns);
  write_json_basis(out, p);
  out.key("rows").begin_array();
  for (const TopRow& row : shown.rows) {
    out.begin_object();
    write_frame(out, p, row.frame);
    out.field("flat", row.flat).field("cum", row.cum);
    out.key("callers");
    write_edges(out, p, shown_edges(p, graph.callers_of(row.frame), options), &CallEdge::from);
    out.key("callees");
    write_edges(out, p, shown_edges(p, graph.callees_of(row.frame), options), &CallEdge::to);
    out.end_object();
  }
  return finish_json(out, p, shown.cut_rows, "flat", shown.cut_weight);
}

std::string csv(const FrameProfile& p, const CallGraph& graph, const Shown& shown,
                const ReportOptions& options) {
  std::string out = "caller,callee,weight,inlined\n";
  for (const TopRow& row : shown.rows) {
    for (const CallEdge& edge : shown_edges(p, graph.callees_of(row.frame), options)) {
      out += fmt::format("{},{},{},{}\n", csv_field(display_name(p, edge.from)),
                         csv_field(display_name(p, edge.to)), edge.weight, edge.inlined ? 1 : 0);
    }
  }
  return out;
}

}  // namespace

std::string graph_report(const FrameProfile& profile, const CallGraph& graph,
                         const std::vector<FrameId>& only, const ReportOptions& options) {
  const Shown shown = choose_rows(profile, only_these(graph.nodes, only), options);
  switch (options.format) {
    case ReportFormat::kText:
      return text(profile, graph, shown, options);
    case ReportFormat::kJson:
      return json(profile, graph, shown, options);
    case ReportFormat::kCsv:
      return csv(profile, graph, shown, options);
  }
  return {};
}

}  // namespace vesta
