#include <fmt/format.h>

#include <algorithm>

#include "analysis/significance.h"
#include "base/units.h"
#include "reports/print/report.h"
#include "reports/print/report_parts.h"

namespace vesta {
namespace {

std::string change_text(const FunctionRow& row) {
  if (row.baseline_cum == 0 && row.cum != 0) return "new";
  if (row.cum == 0 && row.baseline_cum != 0) return "gone";
  if (row.baseline_flat == 0) return row.flat_delta() == 0 ? "" : "+new self";
  return fmt::format("{:+.1f}%", relative_change(row.baseline_flat, row.flat_delta()) * 100);
}

bool is_significant(const FunctionTable& table, const FunctionRow& row) {
  return table.tells_chance && row.q_value < kSignificantQ;
}

std::string with_sign(const ValueFormat& format, int64_t value) {
  return (value > 0 ? "+" : "") + format(value);
}

std::string diff_text(const ReportHeader& p, const FunctionTable& table,
                      const ReportOptions& options) {
  const TextStyle& style = options.style;
  SmallestWeight smallest;
  for (const FunctionRow& row : table.rows) smallest.see(row.flat_delta());
  const int64_t largest = std::max(p.total, p.baseline_total);
  const ValueFormat format(p.unit, options, smallest.value, largest);
  const int64_t delta = saturating_subtract(p.total, p.baseline_total);
  std::string out =
      fmt::format("Type: {}\nTotal: {} before, {} after, {} ({})\n", printable(p.type),
                  format(p.baseline_total), format(p.total), with_sign(format, delta),
                  p.baseline_total == 0
                      ? "new"
                      : fmt::format("{:+.2f}%", 100 * relative_change(p.baseline_total, delta)));
  out += basis_text(p, style);
  out += losses_text(p.losses, style);
  out += style.bold(fmt::format("{:>10} {:>10} {:>10} {:>9} {:>10}  {}", "Before", "After", "Delta",
                                "Change", "Cum delta", "Name")) +
         "\n";
  for (const FunctionRow& row : table.rows) {
    const std::string figures = fmt::format(
        "{:>10} {:>10} {:>10} {:>9} {:>10}", format(row.baseline_flat), format(row.flat),
        with_sign(format, row.flat_delta()), change_text(row), with_sign(format, row.cum_delta()));
    out += (row.flat_delta() > 0   ? style.red(figures)
            : row.flat_delta() < 0 ? style.blue(figures)
                                   : style.dim(figures)) +
           (is_significant(table, row) ? "* " : "  ") + printable(table.names->text(row.name)) +
           "\n";
  }
  if (std::ranges::any_of(table.rows, [&](const auto& row) { return is_significant(table, row); }))
    out += style.dim(fmt::format("* more than chance (q < {})", kSignificantQ)) + "\n";
  if (table.cut_rows > 0) {
    out += style.dim(fmt::format("… {} more, {} in all (--nodes 0 shows all)",
                                 format_count(table.cut_rows),
                                 with_sign(format, table.cut_flat_delta))) +
           "\n";
  }
  return out;
}

std::string diff_json(const ReportHeader& p, const FunctionTable& table) {
  JsonWriter out(1);
  out.begin_object();
  out.field("type", p.type)
      .field("unit", p.unit)
      .field("total_before", p.baseline_total)
      .field("total_after", p.total);
  out.field("total_delta", saturating_subtract(p.total, p.baseline_total));
  write_samples(out, "samples_before", p.baseline_samples);
  write_samples(out, "samples_after", p.samples);
  out.field("duration_before_ns", p.baseline_duration_ns).field("duration_after_ns", p.duration_ns);
  out.field("significance", significance_word(table));
  write_warnings(out, p.warnings);
  write_diff_rows(out, table);
  write_coverage(out, p.named, p.losses);
  return out.end_object().take() + "\n";
}

std::string csv(const FunctionTable& table) {
  std::string out = "flat_before,flat_after,flat_delta,cum_before,cum_after,cum_delta,name\n";
  for (const FunctionRow& row : table.rows) {
    out += fmt::format("{},{},{},{},{},{},{}\n", row.baseline_flat, row.flat, row.flat_delta(),
                       row.baseline_cum, row.cum, row.cum_delta(),
                       csv_field(table.names->text(row.name)));
  }
  return out;
}

}  // namespace

void write_diff_rows(JsonWriter& json, const FunctionTable& table) {
  json.key("rows").begin_array();
  for (const FunctionRow& row : table.rows) {
    json.begin_object();
    write_frame(json, *table.names, row.name);
    json.field("flat_before", row.baseline_flat).field("flat_after", row.flat);
    json.field("flat_delta", row.flat_delta());
    json.field("cum_before", row.baseline_cum).field("cum_after", row.cum);
    json.field("cum_delta", row.cum_delta());
    json.field("change", change_word(change_of(row)));
    if (table.tells_chance) {
      json.field("p_value", row.p_value).field("q_value", row.q_value);
    } else {
      json.key("p_value").null().key("q_value").null();
    }
    json.field("significant", is_significant(table, row)).end_object();
  }
  json.end_array();
  write_cut(json, table.cut_rows, "flat_delta", table.cut_flat_delta);
}

std::string diff_report(const ReportHeader& header, const FunctionTable& table,
                        const ReportOptions& options) {
  if (options.format == ReportFormat::kJson) return diff_json(header, table);
  if (options.format == ReportFormat::kCsv) return csv(table);
  return diff_text(header, table, options);
}

}  // namespace vesta
