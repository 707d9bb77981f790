#include <fmt/format.h>

#include "base/units.h"
#include "formats/table/report.h"
#include "formats/table/report_parts.h"

namespace vesta {
namespace {

// How many values of one label are shown before the rest is summed up: enough for hosts and
// threads, not for request ids.
size_t values_shown(const LabelKey& key, const ReportOptions& options) {
  return options.max_rows == 0 ? key.values.size() : std::min(options.max_rows, key.values.size());
}

std::string text(const MergedProfile& p, const std::vector<LabelKey>& keys,
                 const ReportOptions& options) {
  const int64_t total = total_of(p);
  const ValueFormat format(p.unit, options, 0, total);
  std::string out = header_text(p);
  if (keys.empty()) out += "No labels.\n";
  for (const LabelKey& key : keys) {
    out += options.style.bold(fmt::format("{}: {} of {} total, {} values", printable(key.key),
                                          format(key.weight), format(total),
                                          format_count(key.values.size()))) +
           "\n";
    const size_t shown = values_shown(key, options);
    for (size_t i = 0; i < shown; ++i) {
      const LabelValue& value = key.values[i];
      out +=
          fmt::format("{:>10} {:>7}  {}\n", format(value.weight),
                      format_percent(static_cast<double>(value.weight), static_cast<double>(total)),
                      printable(value.value));
    }
    int64_t cut = 0;
    for (size_t i = shown; i < key.values.size(); ++i)
      cut = saturating_add(cut, key.values[i].weight);
    out += cut_text(key.values.size() - shown, cut, total, options.style);
  }
  return out;
}

std::string json(const MergedProfile& p, const std::vector<LabelKey>& keys) {
  JsonWriter out(1);
  out.begin_object();
  write_json_header(out, p.type, p.unit, total_of(p), p.duration_ns, p.time_ns);
  out.key("labels").begin_array();
  for (const LabelKey& key : keys) {
    out.begin_object()
        .field("key", key.key)
        .field("weight", key.weight)
        .key("values")
        .begin_array();
    for (const LabelValue& value : key.values) {
      out.begin_object().field("value", value.value).field("weight", value.weight).end_object();
    }
    out.end_array().end_object();
  }
  out.end_array().end_object();
  return out.take() + "\n";
}

std::string csv(const std::vector<LabelKey>& keys) {
  std::string out = "key,value,weight\n";
  for (const LabelKey& key : keys) {
    for (const LabelValue& value : key.values) {
      out += fmt::format("{},{},{}\n", csv_field(key.key), csv_field(value.value), value.weight);
    }
  }
  return out;
}

}  // namespace

std::string labels_report(const MergedProfile& profile, const std::vector<LabelKey>& keys,
                          const ReportOptions& options) {
  switch (options.format) {
    case ReportFormat::kText:
      return text(profile, keys, options);
    case ReportFormat::kJson:
      return json(profile, keys);
    case ReportFormat::kCsv:
      return csv(keys);
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
