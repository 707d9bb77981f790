#include "formats/table/report_parts.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "profile/frame_name.h"

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

namespace {

std::string header_lines(std::string_view binary, std::string_view type, int64_t time_ns,
                         int64_t duration_ns, int64_t total, std::string_view unit) {
  std::string out;
  if (!binary.empty()) {
    out += fmt::format("File: {}\n", printable(base_name(binary)));
  }
  if (!type.empty()) out += fmt::format("Type: {}\n", printable(type));
  // Years past 9999 come from damaged files; fmt refuses them.
  constexpr int64_t kLastSecond = 253402300799;
  if (time_ns > 0 && time_ns / 1'000'000'000 <= kLastSecond) {
    out += fmt::format("Time: {:%Y-%m-%d %H:%M:%S} UTC\n",
                       fmt::gmtime(static_cast<time_t>(time_ns / 1'000'000'000)));
  }
  if (duration_ns > 0) {
    out += fmt::format("Duration: {}, Total = {}", format_value(duration_ns, "nanoseconds"),
                       format_value(total, unit));
    // Time per time is a share of cores; anything else is not.
    if (parse_unit(unit).kind == UnitKind::kTime) {
      out += fmt::format(
          " ({})", format_percent(static_cast<double>(total), static_cast<double>(duration_ns)));
    }
    out += '\n';
  }
  return out;
}

}  // namespace

std::string header_text(const FrameProfile& p) {
  return header_lines(p.main_binary, p.type, p.time_ns, p.duration_ns, p.total, p.unit);
}

std::string header_text(const MergedProfile& p) {
  return header_lines(p.main_binary, p.type, p.time_ns, p.duration_ns, total_of(p), p.unit);
}

std::string basis_text(const FrameProfile& p, const TextStyle& style) {
  std::string out;
  if (p.samples != 0 && !p.has_baseline)
    out += fmt::format("Samples: {}\n", format_count(p.samples));
  if (p.has_baseline && p.samples != 0 && p.baseline_samples != 0) {
    out += fmt::format("Samples: {} before, {} after\n", format_count(p.baseline_samples),
                       format_count(p.samples));
  }
  for (const ReportWarning& warning : p.warnings)
    out += style.bold("Warning: " + warning.text) + "\n";
  return out;
}

void write_json_basis(JsonWriter& json, const FrameProfile& profile) {
  write_samples(json, "samples", profile.samples);
  write_warnings(json, profile.warnings);
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
  std::string out = "Missing or damaged:";
  const char* separator = " ";
  for (const LossCount& loss : losses) {
    out += fmt::format("{}{} {}", separator, format_count(loss.count), printable(loss.reason));
    separator = ", ";
  }
  return style.bold(out) + "\n";
}

double named_share(const FrameProfile& profile) {
  double named = 0;
  double all = 0;
  for (const StackWeight& weight : profile.weights) {
    const auto stack = profile.stacks[weight.stack];
    const double value = static_cast<double>(saturating_abs(weight.value));
    all += value;
    if (!stack.empty() &&
        (profile.frame(stack[0].frame()).name || profile.frame(stack[0].frame()).file))
      named += value;
  }
  return all == 0 ? 1 : named / all;
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

std::string cut_text(size_t rows, int64_t weight, int64_t total, const TextStyle& style) {
  if (rows == 0) return {};
  const double share =
      total == 0 ? 0 : static_cast<double>(weight) / static_cast<double>(total) * 100;
  return style.dim(
             fmt::format("… {} more, {:.1f} % (--nodes 0 shows all)", format_count(rows), share)) +
         "\n";
}

ShownRows<TopRow> choose_rows(const FrameProfile& profile, const std::vector<TopRow>& rows,
                              const ReportOptions& options) {
  const double least = options.min_share * static_cast<double>(profile.total);
  ShownRows<TopRow> out;
  for (const TopRow& row : rows) {
    const bool is_negative = row.flat < 0 || (row.flat == 0 && row.cum < 0);
    if (options.drop_negative && is_negative) {
      out.cut(row.flat);
    } else if (out.has_room(options) && static_cast<double>(saturating_abs(row.cum)) >= least) {
      out.rows.push_back(row);
    } else {
      out.cut(row.flat);
    }
  }
  return out;
}

void SmallestWeight::see(int64_t weight) {
  const int64_t size = saturating_abs(weight);
  if (size > 0 && (value == 0 || size < value)) value = size;
}

int64_t smallest_weight(const std::vector<TopRow>& rows) {
  SmallestWeight smallest;
  for (const TopRow& row : rows) smallest.see(row.flat != 0 ? row.flat : row.cum);
  return smallest.value;
}

void write_cut(JsonWriter& json, size_t rows, std::string_view weight_name, int64_t weight) {
  json.key("cut").begin_object().field("rows", uint64_t{rows}).field(weight_name, weight);
  json.end_object();
}

std::string finish_json(JsonWriter& json, const FrameProfile& profile, size_t cut_rows,
                        std::string_view weight_name, int64_t cut_weight) {
  json.end_array();
  write_cut(json, cut_rows, weight_name, cut_weight);
  write_coverage(json, named_share(profile), profile.losses);
  json.end_object();
  return json.take() + "\n";
}

void write_frame(JsonWriter& json, const FrameProfile& profile, FrameId id) {
  const Frame& frame = profile.frame(id);
  const std::string name =
      frame.name ? std::string(profile.string(frame.name)) : display_name(profile, id);
  json.field("name", name).field("file", profile.string(frame.file)).field("line", frame.line);
  json.field("binary", profile.string(frame.binary));
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
