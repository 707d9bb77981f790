#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/units.h"
#include "reports/print/report.h"
#include "reports/print/report_parts.h"

namespace vesta {
namespace {

// Largest first; equal ones stay as they came.
std::vector<size_t> by_weight(const FrameProfile& p) {
  std::vector<size_t> order(p.weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](size_t i) { return saturating_abs(p.weights[i].value); });
  return order;
}

using ShownTraces = ShownRows<size_t>;

ShownTraces shown_traces(const FrameProfile& p, int64_t total, const ReportOptions& options) {
  const double least = options.min_share * static_cast<double>(total);
  ShownTraces out;
  for (const size_t i : by_weight(p)) {
    if (out.has_room(options) && static_cast<double>(saturating_abs(p.weights[i].value)) >= least) {
      out.rows.push_back(i);
    } else {
      out.cut(p.weights[i].value);
    }
  }
  return out;
}

std::string text(const ReportHeader& header, const FrameProfile& p, const ShownTraces& shown,
                 const ReportOptions& options) {
  const std::string rule = std::string(11, '-') + "+" + std::string(55, '-') + "\n";
  SmallestWeight smallest;
  for (const size_t i : shown.rows) {
    smallest.see(p.weights[i].value);
  }
  const ValueFormat format(header.unit, options, smallest.value, header.total);
  std::string out = header_text(header) + basis_text(header, options.style) +
                    losses_text(header.losses, options.style);
  for (const size_t i : shown.rows) {
    const StackWeight& weight = p.weights[i];
    out += rule;
    for (const Label& label : p.dictionary->label_sets[weight.labels]) {
      out += options.style.dim(fmt::format("{:>10}:  {}\n", printable(p.string(label.key)),
                                           printable(label_text(*p.dictionary, label))));
    }
    const auto stack = p.stacks[weight.stack];
    out += fmt::format("{:>10}   {}\n", format(weight.value),
                       stack.empty() ? "<no stack>" : printable(display_name(p, stack[0].frame())));
    for (size_t depth = 1; depth < stack.size(); ++depth) {
      out += fmt::format("{:>10}   {}\n", "", printable(display_name(p, stack[depth].frame())));
    }
  }
  if (!shown.rows.empty()) out += rule;
  return out + cut_text(shown.cut_rows, shown.cut_weight, header.total, options.style);
}

std::string csv(const FrameProfile& p, const ShownTraces& shown) {
  std::string out = "value,labels,stack\n";
  for (const size_t i : shown.rows) {
    const StackWeight& weight = p.weights[i];
    std::string labels;
    for (const Label& label : p.dictionary->label_sets[weight.labels]) {
      labels += fmt::format("{}{}={}", labels.empty() ? "" : " ", p.string(label.key),
                            label_text(*p.dictionary, label));
    }
    std::string stack;
    const auto frames = p.stacks[weight.stack];
    for (size_t depth = frames.size(); depth-- > 0;) {
      stack += display_name(p, frames[depth].frame()) + (depth == 0 ? "" : ";");
    }
    out += fmt::format("{},{},{}\n", weight.value, csv_field(labels), csv_field(stack));
  }
  return out;
}

}  // namespace

void write_traces(JsonWriter& json, const FrameProfile& p, int64_t total,
                  const ReportOptions& options) {
  const ShownTraces shown = shown_traces(p, total, options);
  json.key("traces").begin_array();
  for (const size_t i : shown.rows) {
    const StackWeight& weight = p.weights[i];
    json.begin_object().field("value", weight.value).key("labels").begin_object();
    for (const Label& label : p.dictionary->label_sets[weight.labels]) {
      json.field(p.string(label.key), label_text(*p.dictionary, label));
    }
    json.end_object().key("stack").begin_array();
    for (const FrameRef frame : p.stacks[weight.stack]) json.string(display_name(p, frame.frame()));
    json.end_array().end_object();
  }
  json.end_array();
  write_cut(json, shown.cut_rows, "value", shown.cut_weight);
}

std::string traces_report(const ReportHeader& header, const FrameProfile& profile,
                          const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kText:
      return text(header, profile, shown_traces(profile, header.total, options), options);
    case ReportFormat::kJson: {
      JsonWriter json(1);
      json.begin_object();
      write_json_header(json, header);
      write_json_basis(json, header);
      write_traces(json, profile, header.total, options);
      write_coverage(json, header.named, header.losses);
      return json.end_object().take() + "\n";
    }
    case ReportFormat::kCsv:
      return csv(profile, shown_traces(profile, header.total, options));
  }
  return {};
}

}  // namespace vesta
