#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/units.h"
#include "formats/table/report.h"
#include "formats/table/report_parts.h"

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

using Shown = ShownRows<size_t>;

Shown shown_traces(const FrameProfile& p, const ReportOptions& options) {
  const double least = options.min_share * static_cast<double>(p.total);
  Shown out;
  for (const size_t i : by_weight(p)) {
    if (out.has_room(options) && static_cast<double>(saturating_abs(p.weights[i].value)) >= least) {
      out.rows.push_back(i);
    } else {
      out.cut(p.weights[i].value);
    }
  }
  return out;
}

std::string text(const FrameProfile& p, const Shown& shown, const ReportOptions& options) {
  const std::string rule = std::string(11, '-') + "+" + std::string(55, '-') + "\n";
  SmallestWeight smallest;
  for (const size_t i : shown.rows) {
    smallest.see(p.weights[i].value);
  }
  const ValueFormat format(p.unit, options, smallest.value, p.total);
  std::string out =
      header_text(p) + basis_text(p, options.style) + losses_text(p.losses, options.style);
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
  return out + cut_text(shown.cut_rows, shown.cut_weight, p.total, options.style);
}

std::string json(const FrameProfile& p, const Shown& shown) {
  JsonWriter out(1);
  out.begin_object();
  write_json_header(out, p.type, p.unit, p.total, p.duration_ns, p.time_ns);
  write_json_basis(out, p);
  out.key("traces").begin_array();
  for (const size_t i : shown.rows) {
    const StackWeight& weight = p.weights[i];
    out.begin_object().field("value", weight.value).key("labels").begin_object();
    for (const Label& label : p.dictionary->label_sets[weight.labels]) {
      out.field(p.string(label.key), label_text(*p.dictionary, label));
    }
    out.end_object().key("stack").begin_array();
    for (const FrameRef frame : p.stacks[weight.stack]) out.string(display_name(p, frame.frame()));
    out.end_array().end_object();
  }
  return finish_json(out, p, shown.cut_rows, "value", shown.cut_weight);
}

std::string csv(const FrameProfile& p, const Shown& shown) {
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

std::string traces_report(const FrameProfile& profile, const ReportOptions& options) {
  const Shown shown = shown_traces(profile, options);
  switch (options.format) {
    case ReportFormat::kText:
      return text(profile, shown, options);
    case ReportFormat::kJson:
      return json(profile, shown);
    case ReportFormat::kCsv:
      return csv(profile, shown);
  }
  return {};
}

}  // namespace vesta
