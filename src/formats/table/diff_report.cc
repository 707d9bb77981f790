#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/units.h"
#include "formats/table/report.h"
#include "formats/table/report_parts.h"

namespace vesta {
namespace {

// Change against the function's own baseline; a new function has no baseline and so an infinite
// one.
double relative_change(int64_t before, int64_t delta) {
  if (before == 0) return delta == 0 ? 0 : std::numeric_limits<double>::infinity();
  return static_cast<double>(delta) / std::fabs(static_cast<double>(before));
}

std::string change_text(const DiffRow& row) {
  if (row.top.baseline_cum == 0 && row.top.cum != 0) return "new";
  if (row.top.cum == 0 && row.top.baseline_cum != 0) return "gone";
  if (row.top.baseline_flat == 0) return row.flat_delta == 0 ? "" : "+new self";
  return fmt::format("{:+.1f}%", relative_change(row.top.baseline_flat, row.flat_delta) * 100);
}

using Shown = ShownRows<DiffRow>;

Shown shown_rows(const FrameProfile& p, std::vector<DiffRow> rows, DiffOrder order, TopOrder by,
                 const ReportOptions& options) {
  const double whole = static_cast<double>(std::max(p.total, p.baseline_total));
  const auto change = [&](const DiffRow& row) {
    if (order == DiffOrder::kRelative)
      return relative_change(row.top.baseline_flat, row.flat_delta);
    return static_cast<double>(by == TopOrder::kByFlat ? row.flat_delta : row.cum_delta);
  };
  if (order == DiffOrder::kRelative) std::ranges::stable_sort(rows, std::ranges::greater(), change);
  // Where not all fit, the largest changes stay, of either sign; all are shown in their order.
  std::vector<size_t> by_size(rows.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::ranges::stable_sort(by_size, std::ranges::greater(),
                           [&](size_t at) { return std::fabs(change(rows[at])); });
  std::vector<size_t> chosen;
  Shown out;
  for (const size_t at : by_size) {
    const DiffRow& row = rows[at];
    const double weight = static_cast<double>(
        std::max(saturating_abs(row.top.cum), saturating_abs(row.top.baseline_cum)));
    const bool has_room = options.max_rows == 0 || chosen.size() < options.max_rows;
    if (has_room && weight >= options.min_share * whole) {
      chosen.push_back(at);
    } else {
      out.cut(row.flat_delta);
    }
  }
  std::ranges::sort(chosen);
  for (const size_t at : chosen) out.rows.push_back(rows[at]);
  return out;
}

std::string with_sign(const ValueFormat& format, int64_t value) {
  return (value > 0 ? "+" : "") + format(value);
}

std::string text(const FrameProfile& p, const Shown& shown, const ReportOptions& options) {
  const TextStyle& style = options.style;
  SmallestWeight smallest;
  for (const DiffRow& row : shown.rows) {
    smallest.see(row.flat_delta);
  }
  const int64_t largest = std::max(p.total, p.baseline_total);
  const ValueFormat format(p.unit, options, smallest.value, largest);
  const int64_t delta = saturating_add(p.total, -p.baseline_total);
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
  for (const DiffRow& row : shown.rows) {
    const std::string figures = fmt::format(
        "{:>10} {:>10} {:>10} {:>9} {:>10}", format(row.top.baseline_flat), format(row.top.flat),
        with_sign(format, row.flat_delta), change_text(row), with_sign(format, row.cum_delta));
    out += (row.flat_delta > 0   ? style.red(figures)
            : row.flat_delta < 0 ? style.blue(figures)
                                 : style.dim(figures)) +
           "  " + printable(display_name(p, row.top.frame)) + "\n";
  }
  if (shown.cut_rows > 0) {
    out +=
        style.dim(fmt::format("… {} more, {} in all (--nodes 0 shows all)",
                              format_count(shown.cut_rows), with_sign(format, shown.cut_weight))) +
        "\n";
  }
  return out;
}

std::string json(const FrameProfile& p, const Shown& shown) {
  JsonWriter out(1);
  out.begin_object();
  out.field("type", p.type)
      .field("unit", p.unit)
      .field("total_before", p.baseline_total)
      .field("total_after", p.total);
  out.field("total_delta", saturating_add(p.total, -p.baseline_total));
  write_samples(out, "samples_before", p.baseline_samples);
  write_samples(out, "samples_after", p.samples);
  out.field("duration_before_ns", p.baseline_duration_ns).field("duration_after_ns", p.duration_ns);
  write_warnings(out, p.warnings);
  out.key("rows").begin_array();
  for (const DiffRow& row : shown.rows) {
    out.begin_object();
    write_frame(out, p, row.top.frame);
    out.field("flat_before", row.top.baseline_flat)
        .field("flat_after", row.top.flat)
        .field("flat_delta", row.flat_delta);
    out.field("cum_before", row.top.baseline_cum)
        .field("cum_after", row.top.cum)
        .field("cum_delta", row.cum_delta);
    out.end_object();
  }
  return finish_json(out, p, shown.cut_rows, "flat_delta", shown.cut_weight);
}

std::string csv(const FrameProfile& p, const Shown& shown) {
  std::string out = "flat_before,flat_after,flat_delta,cum_before,cum_after,cum_delta,name\n";
  for (const DiffRow& row : shown.rows) {
    out += fmt::format("{},{},{},{},{},{},{}\n", row.top.baseline_flat, row.top.flat,
                       row.flat_delta, row.top.baseline_cum, row.top.cum, row.cum_delta,
                       csv_field(display_name(p, row.top.frame)));
  }
  return out;
}

}  // namespace

std::string diff_report(const FrameProfile& profile, const std::vector<DiffRow>& rows,
                        DiffOrder order, const ReportOptions& options, TopOrder by) {
  const Shown shown = shown_rows(profile, rows, order, by, options);
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
