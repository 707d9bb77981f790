#include <fmt/format.h>

#include "base/units.h"
#include "reports/print/report.h"
#include "reports/print/report_parts.h"

namespace vesta {
namespace {

// The values of one label that are shown: hosts and threads are few, request ids are not.
using ShownValues = ShownRows<LabelValue>;

ShownValues shown_values(const LabelKey& key, int64_t total, const ReportOptions& options) {
  const double least = options.min_share * static_cast<double>(total);
  ShownValues out;
  for (const LabelValue& value : key.values) {
    if (out.has_room(options) && static_cast<double>(saturating_abs(value.weight)) >= least) {
      out.rows.push_back(value);
    } else {
      out.cut(value.weight);
    }
  }
  return out;
}

std::string text(const ReportHeader& p, const std::vector<LabelKey>& keys,
                 const ReportOptions& options) {
  const int64_t total = p.total;
  const ValueFormat format(p.unit, options, 0, total);
  std::string out = header_text(p) + losses_text(p.losses, options.style);
  if (keys.empty()) out += "No labels.\n";
  for (const LabelKey& key : keys) {
    out += options.style.bold(fmt::format("{}: {} of {} total, {} values", printable(key.key),
                                          format(key.weight), format(total),
                                          format_count(key.values.size()))) +
           "\n";
    const ShownValues shown = shown_values(key, total, options);
    for (const LabelValue& value : shown.rows) {
      out +=
          fmt::format("{:>10} {:>7}  {}\n", format(value.weight),
                      format_percent(static_cast<double>(value.weight), static_cast<double>(total)),
                      printable(value.value));
    }
    out += cut_text(shown.cut_rows, shown.cut_weight, total, options.style);
  }
  return out;
}

std::string csv(const ReportHeader& p, const std::vector<LabelKey>& keys,
                const ReportOptions& options) {
  std::string out = "key,value,weight\n";
  for (const LabelKey& key : keys) {
    for (const LabelValue& value : shown_values(key, p.total, options).rows) {
      out += fmt::format("{},{},{}\n", csv_field(key.key), csv_field(value.value), value.weight);
    }
  }
  return out;
}

}  // namespace

void write_label_keys(JsonWriter& json, const std::vector<LabelKey>& keys, int64_t total,
                      const ReportOptions& options) {
  json.key("labels").begin_array();
  for (const LabelKey& key : keys) {
    const ShownValues shown = shown_values(key, total, options);
    json.begin_object().field("key", key.key).field("weight", key.weight);
    json.key("values").begin_array();
    for (const LabelValue& value : shown.rows) {
      json.begin_object().field("value", value.value).field("weight", value.weight).end_object();
    }
    json.end_array();
    write_cut(json, shown.cut_rows, "weight", shown.cut_weight);
    json.end_object();
  }
  json.end_array();
}

std::string labels_report(const ReportHeader& header, const std::vector<LabelKey>& keys,
                          const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kText:
      return text(header, keys, options);
    case ReportFormat::kJson: {
      JsonWriter json(1);
      json.begin_object();
      write_json_header(json, header);
      write_label_keys(json, keys, header.total, options);
      return json.end_object().take() + "\n";
    }
    case ReportFormat::kCsv:
      return csv(header, keys, options);
  }
  return {};
}

std::string types_report(const std::vector<TypeInfo>& types, const ReportOptions& options) {
  if (options.format == ReportFormat::kJson) {
    JsonWriter out(1);
    out.begin_object().key("types").begin_array();
    for (const TypeInfo& type : types) {
      out.begin_object()
          .field("id", type.id())
          .field("name", type.name)
          .field("type", type.type)
          .field("unit", type.unit);
      out.field("total", type.total).field("default", type.is_default).end_object();
    }
    out.end_array().end_object();
    return out.take() + "\n";
  }
  if (options.format == ReportFormat::kCsv) {
    std::string out = "id,type,unit,total,default\n";
    for (const TypeInfo& type : types) {
      out += fmt::format("{},{},{},{},{}\n", csv_field(type.id()), csv_field(type.type),
                         csv_field(type.unit), type.total, type.is_default ? 1 : 0);
    }
    return out;
  }
  std::string out;
  for (const TypeInfo& type : types) {
    out += fmt::format("{:>12}  {}{}\n", format_value(type.total, type.unit),
                       printable(type.name.empty() ? type.type + ":" + type.unit : type.id()),
                       type.is_default ? options.style.dim("  (shown first)") : "");
  }
  return out;
}

}  // namespace vesta
