#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "formats/table/report.h"
#include "formats/table/report_parts.h"

namespace vesta {
namespace {

using Shown = ShownRows<TopRow>;

const char* inline_suffix(InlineUse use) {
  switch (use) {
    case InlineUse::kNever:
      return "";
    case InlineUse::kSometimes:
      return " (partial-inline)";
    case InlineUse::kAlways:
      return " (inline)";
  }
  return "";
}

std::string text(const FrameProfile& p, const Shown& shown, const ReportOptions& options) {
  const TextStyle& style = options.style;
  int64_t accounted = 0;
  for (const TopRow& row : shown.rows) accounted = saturating_add(accounted, row.flat);
  const ValueFormat format(p.unit, options, smallest_weight(shown.rows), p.total);
  const double total = static_cast<double>(p.total);
  std::string out = header_text(p);
  out += fmt::format("Showing nodes accounting for {}, {} of {} total\n", format(accounted),
                     format_percent(static_cast<double>(accounted), total), format(p.total));
  out += basis_text(p, style) + losses_text(p.losses, style);
  out += style.bold(fmt::format("{:>10} {:>7} {:>7} {:>10} {:>7}  {}", "Flat", "Flat%", "Sum%",
                                "Cum", "Cum%", "Name")) +
         "\n";
  int64_t sum = 0;
  for (const TopRow& row : shown.rows) {
    sum = saturating_add(sum, row.flat);
    const auto percent = [&](int64_t value) {
      return format_percent(static_cast<double>(value), total);
    };
    const double share = total == 0 ? 0 : std::fabs(static_cast<double>(row.flat)) / total;
    out += style.heat(fmt::format("{:>10} {:>7}", format(row.flat), percent(row.flat)), share);
    out += fmt::format(" {:>7} {:>10} {:>7}  ", percent(sum), format(row.cum), percent(row.cum));
    out += printable(display_name(p, row.frame)) + style.dim(inline_suffix(row.inlined)) + "\n";
  }
  return out + cut_text(shown.cut_rows, shown.cut_weight, p.total, style);
}

std::string json(const FrameProfile& p, const Shown& shown) {
  JsonWriter out(1);
  out.begin_object();
  write_json_header(out, p.type, p.unit, p.total, p.duration_ns, p.time_ns);
  write_json_basis(out, p);
  out.key("rows").begin_array();
  for (const TopRow& row : shown.rows) {
    out.begin_object();
    write_frame(out, p, row.frame);
    out.field("flat", row.flat).field("cum", row.cum).end_object();
  }
  return finish_json(out, p, shown.cut_rows, "flat", shown.cut_weight);
}

std::string csv(const FrameProfile& p, const Shown& shown) {
  std::string out = "flat,flat_percent,sum_percent,cum,cum_percent,name,file,line,binary\n";
  int64_t sum = 0;
  const auto percent = [&](int64_t v) {
    return p.total == 0 ? 0.0 : static_cast<double>(v) * 100 / static_cast<double>(p.total);
  };
  for (const TopRow& row : shown.rows) {
    const Frame& frame = p.frame(row.frame);
    sum = saturating_add(sum, row.flat);
    out +=
        fmt::format("{},{:.4f},{:.4f},{},{:.4f},{},{},{},{}\n", row.flat, percent(row.flat),
                    percent(sum), row.cum, percent(row.cum), csv_field(display_name(p, row.frame)),
                    csv_field(p.string(frame.file)), frame.line, csv_field(p.string(frame.binary)));
  }
  return out;
}

}  // namespace

std::string top_report(const FrameProfile& profile, TopOrder order, const ReportOptions& options) {
  const Shown shown = choose_rows(profile, top_table(profile, order), options);
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
