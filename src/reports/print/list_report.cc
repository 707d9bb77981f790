#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "reports/print/report.h"
#include "reports/print/report_parts.h"

namespace vesta {
namespace {

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// Source keeps its tabs; all else that could move the cursor is made visible.
std::string source_text(std::string_view line) {
  std::string out;
  while (true) {
    const size_t tab = line.find('\t');
    out += printable(line.substr(0, tab));
    if (tab == std::string_view::npos) return out;
    out += "    ";
    line.remove_prefix(tab + 1);
  }
}

std::string value_or_dot(const ValueFormat& format, int64_t value) {
  return value == 0 ? "." : format(value);
}

std::string function_text(const FunctionLines& f, std::string_view source,
                          const ValueFormat& format, double total, const TextStyle& style) {
  std::string out =
      style.bold(fmt::format("ROUTINE ======================== {} in {}", printable(f.function),
                             f.file.empty() ? "an unknown file" : printable(f.file))) +
      "\n";
  out += fmt::format("{:>10} {:>10} (flat, cum) {} of Total\n", format(f.flat), format(f.cum),
                     format_percent(static_cast<double>(f.cum), total));
  const std::vector<std::string_view> text = split_lines(source);
  if (f.lines.empty()) return out;
  constexpr int64_t kContext = 3;
  int64_t first = f.lines.begin()->first;
  int64_t last = f.lines.rbegin()->first;
  const auto row = [&](int64_t number, const LineWeight& weight, std::string_view line) {
    const double share = total == 0 ? 0 : static_cast<double>(weight.flat) / total;
    out += style.heat(fmt::format("{:>10} {:>10}", value_or_dot(format, weight.flat),
                                  value_or_dot(format, weight.cum)),
                      share);
    out +=
        fmt::format(" {:>6}:{}\n", number == 0 ? "?" : std::to_string(number), source_text(line));
  };
  if (text.empty()) {
    out += style.dim("           (source not found: set --source-path DIR)") + "\n";
    for (const auto& [number, weight] : f.lines) row(number, weight, "");
    return out;
  }
  // A wrong line table must not make us print a million lines.
  first = std::clamp<int64_t>(
      f.start_line > 0 && f.start_line < first ? f.start_line : first - kContext, 1,
      static_cast<int64_t>(text.size()));
  last = std::clamp<int64_t>(last + kContext, first, static_cast<int64_t>(text.size()));
  for (int64_t number = first; number <= last; ++number) {
    const auto weight = f.lines.find(number);
    row(number, weight == f.lines.end() ? LineWeight() : weight->second,
        text[static_cast<size_t>(number - 1)]);
  }
  for (const auto& [number, weight] : f.lines) {
    if (number < first || number > last)
      row(number, weight, "(line is not in the file: the file has changed)");
  }
  return out;
}

// Positions of the functions that are shown.
using ShownFunctions = ShownRows<size_t>;

ShownFunctions shown_functions(const std::vector<FunctionLines>& functions, int64_t total,
                               const ReportOptions& options) {
  const double least = options.min_share * static_cast<double>(total);
  ShownFunctions out;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (out.has_room(options) && static_cast<double>(saturating_abs(functions[i].cum)) >= least) {
      out.rows.push_back(i);
    } else {
      out.cut(functions[i].flat);
    }
  }
  return out;
}

std::string text(const ReportHeader& p, const std::vector<FunctionLines>& functions,
                 const std::vector<std::string>& sources, const ReportOptions& options) {
  const int64_t total = p.total;
  const ShownFunctions shown = shown_functions(functions, total, options);
  SmallestWeight smallest;
  for (const size_t i : shown.rows) {
    for (const auto& [number, weight] : functions[i].lines) {
      smallest.see(weight.flat != 0 ? weight.flat : weight.cum);
    }
  }
  const ValueFormat format(p.unit, options, smallest.value, total);
  std::string out =
      fmt::format("Total: {}\n", format(total)) + losses_text(p.losses, options.style);
  for (const size_t i : shown.rows) {
    out +=
        function_text(functions[i], sources[i], format, static_cast<double>(total), options.style);
  }
  return out + cut_text(shown.cut_rows, shown.cut_weight, total, options.style);
}

std::string csv(const std::vector<FunctionLines>& functions, const ShownFunctions& shown) {
  std::string out = "function,file,line,flat,cum\n";
  for (const size_t i : shown.rows) {
    for (const auto& [number, weight] : functions[i].lines) {
      out += fmt::format("{},{},{},{},{}\n", csv_field(functions[i].function),
                         csv_field(functions[i].file), number, weight.flat, weight.cum);
    }
  }
  return out;
}

}  // namespace

void write_functions(JsonWriter& json, const std::vector<FunctionLines>& functions,
                     const std::vector<std::string>& sources, int64_t total,
                     const ReportOptions& options) {
  const ShownFunctions shown = shown_functions(functions, total, options);
  json.key("functions").begin_array();
  for (const size_t i : shown.rows) {
    const FunctionLines& f = functions[i];
    const std::vector<std::string_view> lines = split_lines(sources[i]);
    json.begin_object().field("name", f.function).field("file", f.file);
    json.field("start_line", f.start_line).field("flat", f.flat).field("cum", f.cum);
    json.key("lines").begin_array();
    for (const auto& [number, weight] : f.lines) {
      json.begin_object().field("line", number).field("flat", weight.flat).field("cum", weight.cum);
      if (number >= 1 && static_cast<size_t>(number) <= lines.size()) {
        json.field("text", lines[static_cast<size_t>(number - 1)]);
      }
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
  write_cut(json, shown.cut_rows, "flat", shown.cut_weight);
}

std::string list_report(const ReportHeader& header, const std::vector<FunctionLines>& functions,
                        const std::vector<std::string>& sources, const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kText:
      return text(header, functions, sources, options);
    case ReportFormat::kJson: {
      JsonWriter json(1);
      json.begin_object();
      write_json_header(json, header);
      write_functions(json, functions, sources, header.total, options);
      return json.end_object().take() + "\n";
    }
    case ReportFormat::kCsv:
      return csv(functions, shown_functions(functions, header.total, options));
  }
  return {};
}

}  // namespace vesta
