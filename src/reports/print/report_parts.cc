#include "reports/print/report_parts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "profile/frame_name.h"
#include "profile/merged_profile.h"
#include "reports/function_table.h"

namespace vesta {

ValueFormat::ValueFormat(std::string_view unit, const ReportOptions& options, int64_t smallest,
                         int64_t largest)
    : unit_(unit), target_(options.unit) {
  if (target_.empty())
    target_ = best_unit_for_range(smallest == 0 ? largest : smallest, largest, unit);
}

std::string ValueFormat::operator()(int64_t value) const {
  return format_value_in(value, unit_, target_);
}

std::string header_text(const ReportHeader& header) {
  std::string out;
  if (!header.main_binary.empty())
    out += fmt::format("File: {}\n", printable(base_name(header.main_binary)));
  if (!header.type.empty()) out += fmt::format("Type: {}\n", printable(header.type));
  // Years past 9999 come from damaged files; fmt refuses them.
  constexpr int64_t kLastSecond = 253402300799;
  if (header.time_ns > 0 && header.time_ns / 1'000'000'000 <= kLastSecond) {
    out += fmt::format("Time: {:%Y-%m-%d %H:%M:%S} UTC\n",
                       fmt::gmtime(static_cast<time_t>(header.time_ns / 1'000'000'000)));
  }
  if (header.duration_ns > 0) {
    out += fmt::format("Duration: {}, Total = {}", format_value(header.duration_ns, "nanoseconds"),
                       format_value(header.total, header.unit));
    // Time per time is a share of cores; anything else is not.
    if (parse_unit(header.unit).kind == UnitKind::kTime) {
      out += fmt::format(" ({})", format_percent(static_cast<double>(header.total),
                                                 static_cast<double>(header.duration_ns)));
    }
    out += '\n';
  }
  return out;
}

std::string basis_text(const ReportHeader& header, const TextStyle& style) {
  std::string out;
  if (header.samples != 0 && !header.has_baseline)
    out += fmt::format("Samples: {}\n", format_count(header.samples));
  if (header.has_baseline && header.samples != 0 && header.baseline_samples != 0) {
    out += fmt::format("Samples: {} before, {} after\n", format_count(header.baseline_samples),
                       format_count(header.samples));
  }
  for (const ReportWarning& warning : header.warnings)
    out += style.bold("Warning: " + warning.text) + "\n";
  return out;
}

void write_json_basis(JsonWriter& json, const ReportHeader& header) {
  write_samples(json, "samples", header.samples);
  write_warnings(json, header.warnings);
}

void write_warnings(JsonWriter& json, const std::vector<ReportWarning>& warnings) {
  json.key("warnings").begin_array();
  for (const ReportWarning& warning : warnings)
    json.begin_object().field("code", warning.code).field("text", warning.text).end_object();
  json.end_array();
}

void write_samples(JsonWriter& json, std::string_view name, uint64_t samples) {
  if (samples != 0) {
    json.field(name, samples);
  } else {
    json.key(name).null();
  }
}

std::string losses_text(const std::vector<LossCount>& losses, const TextStyle& style) {
  if (losses.empty()) return {};
  std::string out = "Lost or repaired:";
  const char* separator = " ";
  for (const LossCount& loss : losses) {
    out += fmt::format("{}{} {}", separator, format_count(loss.count), printable(loss.reason));
    separator = ", ";
  }
  return style.bold(out) + "\n";
}

void write_coverage(JsonWriter& json, double named, const std::vector<LossCount>& losses) {
  json.key("coverage").begin_object().field("named", named).key("losses").begin_array();
  for (const LossCount& loss : losses) {
    json.begin_object().field("reason", loss.reason).field("count", loss.count).end_object();
  }
  json.end_array().end_object();
}

void write_json_header(JsonWriter& json, std::string_view type, std::string_view unit,
                       int64_t total, int64_t duration_ns, int64_t time_ns) {
  json.field("type", type).field("unit", unit).field("total", total);
  json.field("duration_ns", duration_ns).field("time_ns", time_ns);
}

void write_json_header(JsonWriter& json, const ReportHeader& header) {
  write_json_header(json, header.type, header.unit, header.total, header.duration_ns,
                    header.time_ns);
}

std::string cut_text(size_t rows, int64_t weight, int64_t total, const TextStyle& style) {
  if (rows == 0) return {};
  const double share =
      total == 0 ? 0 : static_cast<double>(weight) / static_cast<double>(total) * 100;
  return style.dim(
             fmt::format("… {} more, {:.1f} % (--nodes 0 shows all)", format_count(rows), share)) +
         "\n";
}

ReportHeader header_for(const FrameProfile& profile, const ReportOptions& options) {
  ReportHeader header = header_of(profile);
  if (options.format == ReportFormat::kJson) header.named = named_share(profile);
  return header;
}

void SmallestWeight::see(int64_t weight) {
  const int64_t size = saturating_abs(weight);
  if (size > 0 && (value == 0 || size < value)) value = size;
}

int64_t smallest_weight(const std::vector<FunctionRow>& rows) {
  SmallestWeight smallest;
  for (const FunctionRow& row : rows) smallest.see(row.flat != 0 ? row.flat : row.cum);
  return smallest.value;
}

void write_cut(JsonWriter& json, size_t rows, std::string_view weight_name, int64_t weight) {
  json.key("cut").begin_object().field("rows", uint64_t{rows}).field(weight_name, weight);
  json.end_object();
}

std::string finish_json(JsonWriter& json, const ReportHeader& header, size_t cut_rows,
                        std::string_view weight_name, int64_t cut_weight) {
  json.end_array();
  write_cut(json, cut_rows, weight_name, cut_weight);
  write_coverage(json, header.named, header.losses);
  json.end_object();
  return json.take() + "\n";
}

void write_frame(JsonWriter& json, const FrameNames& names, uint32_t name) {
  const FrameName& frame = names[name];
  json.field("name", frame.name.empty() ? names.text(name) : std::string(frame.name));
  json.field("file", frame.file).field("line", frame.line).field("binary", frame.binary);
  if (frame.address != 0) json.field("address", fmt::format("0x{:x}", frame.address));
  if (frame.kind != FrameKind::kUnknown) json.field("kind", frame_kind_name(frame.kind));
}

std::string csv_field(std::string_view text) {
  std::string safe = printable(text);
  // A cell that starts like a formula is one to a spreadsheet; names come from outside.
  if (!safe.empty() && std::string_view("=+-@").find(safe[0]) != std::string_view::npos)
    safe.insert(0, "'");
  if (safe.find_first_of(",\"\n") == std::string::npos) return safe;
  std::string out = "\"";
  for (const char c : safe) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace vesta
