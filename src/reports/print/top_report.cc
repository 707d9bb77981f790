#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/units.h"
#include "profile/frame_name.h"
#include "profile/profile_types.h"
#include "reports/inline_uses.h"
#include "reports/print/report.h"
#include "reports/print/report_parts.h"

namespace vesta {
namespace {

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

// "Total Off-CPU time: 45s"; nothing for other types, whose header says it all.
std::string total_text(const ReportHeader& p) {
  if (parse_unit(p.unit).kind != UnitKind::kTime) return {};
  for (const auto& [word, title] :
       {std::pair{"off-cpu", "Off-CPU"}, std::pair{"off-cpu-waker", "Off-CPU"},
        std::pair{"mutex-holder", "Lock wait"}, std::pair{"wall", "Wall"}}) {
    const auto types = types_of_word(word);
    if (std::ranges::find(types, p.type) != types.end())
      return fmt::format("Total {} time: {}\n", title, format_value(p.total, p.unit));
  }
  return {};
}

std::string top_text(const ReportHeader& p, const FunctionTable& table,
                     const ReportOptions& options) {
  const TextStyle& style = options.style;
  int64_t accounted = 0;
  for (const FunctionRow& row : table.rows) accounted = saturating_add(accounted, row.flat);
  const ValueFormat format(p.unit, options, smallest_weight(table.rows), p.total);
  const double total = static_cast<double>(p.total);
  std::string out = total_text(p) + header_text(p);
  out += fmt::format("Showing nodes accounting for {}, {} of {} total\n", format(accounted),
                     format_percent(static_cast<double>(accounted), total), format(p.total));
  out += basis_text(p, style) + losses_text(p.losses, style);
  out += style.bold(fmt::format("{:>10} {:>7} {:>7} {:>10} {:>7}  {}", "Flat", "Flat%", "Sum%",
                                "Cum", "Cum%", "Name")) +
         "\n";
  int64_t sum = 0;
  for (const FunctionRow& row : table.rows) {
    sum = saturating_add(sum, row.flat);
    const auto percent = [&](int64_t value) {
      return format_percent(static_cast<double>(value), total);
    };
    const double share = total == 0 ? 0 : std::fabs(static_cast<double>(row.flat)) / total;
    out += style.heat(fmt::format("{:>10} {:>7}", format(row.flat), percent(row.flat)), share);
    out += fmt::format(" {:>7} {:>10} {:>7}  ", percent(sum), format(row.cum), percent(row.cum));
    out += printable(table.names->text(row.name)) + style.dim(inline_suffix(row.inlined)) + "\n";
  }
  return out + cut_text(table.cut_rows, table.cut_flat, p.total, style);
}

std::string top_json(const ReportHeader& p, const FunctionTable& table) {
  JsonWriter out(1);
  out.begin_object();
  write_json_header(out, p);
  write_json_basis(out, p);
  write_top_rows(out, table);
  write_coverage(out, p.named, p.losses);
  return out.end_object().take() + "\n";
}

std::string csv(const ReportHeader& p, const FunctionTable& table) {
  std::string out = "flat,flat_percent,sum_percent,cum,cum_percent,name,file,line,binary\n";
  int64_t sum = 0;
  const auto percent = [&](int64_t v) {
    return p.total == 0 ? 0.0 : static_cast<double>(v) * 100 / static_cast<double>(p.total);
  };
  for (const FunctionRow& row : table.rows) {
    const FrameName& frame = (*table.names)[row.name];
    sum = saturating_add(sum, row.flat);
    out +=
        fmt::format("{},{:.4f},{:.4f},{},{:.4f},{},{},{},{}\n", row.flat, percent(row.flat),
                    percent(sum), row.cum, percent(row.cum), csv_field(table.names->text(row.name)),
                    csv_field(frame.file), frame.line, csv_field(frame.binary));
  }
  return out;
}

}  // namespace

RowChoice choice_of(TopOrder order, const ReportOptions& options) {
  return {.order = order,
          .limit = options.max_rows,
          .match = nullptr,
          .min_share = options.min_share,
          .drop_negative = options.drop_negative};
}

void write_top_rows(JsonWriter& json, const FunctionTable& table) {
  json.key("rows").begin_array();
  for (const FunctionRow& row : table.rows) {
    json.begin_object();
    write_frame(json, *table.names, row.name);
    json.field("flat", row.flat).field("cum", row.cum);
    if (table.counts_callers) json.field("callers", uint64_t{row.callers});
    json.end_object();
  }
  json.end_array();
  write_cut(json, table.cut_rows, "flat", table.cut_flat);
}

std::string top_report(const ReportHeader& header, const FunctionTable& table,
                       const ReportOptions& options) {
  if (options.format == ReportFormat::kJson) return top_json(header, table);
  if (options.format == ReportFormat::kCsv) return csv(header, table);
  return top_text(header, table, options);
}

std::string top_report(const FrameProfile& profile, TopOrder order, const ReportOptions& options) {
  return top_report(header_for(profile, options), top_functions(profile, choice_of(order, options)),
                    options);
}

}  // namespace vesta
