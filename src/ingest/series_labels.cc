#include "ingest/series_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace vesta {
namespace {

constexpr std::array<std::string_view, 9> kReserved = {
    "__name__",         "__type__",         "__unit__",  "__period_type__", "__period_unit__",
    "__service_name__", "__profile_type__", "__delta__", "__session_id__"};

// What the SDK for Go calls the part of it that makes differences.
constexpr std::string_view kDeltaScope = "com.grafana.pyroscope/godeltaprof";

std::string shown(std::string_view text) {
  return replace_invalid_utf8(text.substr(0, 60)) + (text.size() > 60 ? "…" : "");
}

Error label_error(std::string_view name, std::string_view what, std::string_view hint = {}) {
  return {ErrorCode::kInvalidInput, fmt::format("labels: '{}': {}", shown(name), what),
          std::string(hint)};
}

Error too_many(size_t limit) {
  return {ErrorCode::kInvalidInput,
          fmt::format("labels: more than {} labels for one series", limit),
          "send fewer, or raise the tenant's max_labels_per_series"};
}

// At a whole character.
std::string_view cut_utf8(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<uint8_t>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

}  // namespace

bool is_reserved_label(std::string_view name) {
  return name.starts_with("__") && std::ranges::find(kReserved, name) != kReserved.end();
}

Result<GivenLabels> check_given_labels(LabelPairs labels, const TenantLimits& limits,
                                       IngestCounters& counters) {
  GivenLabels given;
  for (auto& [name, value] : labels) {
    if (!is_label_name(name)) {
      return label_error(name, name.empty() ? "a label without a name" : "not a valid label name",
                         "names are UTF-8 without control characters");
    }
    if (!is_valid_utf8(value)) {
      value = replace_invalid_utf8(value);
      counters.note(IngestNote::kInvalidUtf8);
    }
    if (name.size() > limits.max_label_name_bytes) {
      return label_error(name, fmt::format("the name has {} bytes; the limit is {}", name.size(),
                                           limits.max_label_name_bytes));
    }
    if (value.size() > limits.max_label_value_bytes) {
      return label_error(name, fmt::format("the value has {} bytes; the limit is {}", value.size(),
                                           limits.max_label_value_bytes));
    }
    if (name == "__name__") {
      given.name = value;
      given.is_delta |= value.starts_with(kDeltaFamilyPrefix);
    } else if (name == "__delta__") {
      given.is_delta |= value == "false";
    } else if (is_reserved_label(name)) {
      counters.note(IngestNote::kLabelsDropped);
    } else if (!value.empty()) {
      given.is_delta |= name == "otel.scope.name" && value == kDeltaScope;
      given.labels.emplace_back(std::move(name), std::move(value));
    }
  }
  std::ranges::sort(given.labels);
  given.labels.erase(std::unique(given.labels.begin(), given.labels.end()), given.labels.end());
  for (size_t i = 1; i < given.labels.size(); ++i) {
    if (given.labels[i].first == given.labels[i - 1].first)
      return label_error(given.labels[i].first, "given twice, with different values");
  }
  if (given.labels.size() > limits.max_labels_per_series)
    return too_many(limits.max_labels_per_series);
  return given;
}

Result<Labels> series_labels(const Dictionary& dictionary, LabelSetId resource,
                             const GivenLabels& given, std::string_view service,
                             const TenantLimits& limits, IngestCounters& counters) {
  Labels labels;
  std::string_view dotted_service;
  std::string_view program;
  for (const Label& label : dictionary.label_sets[resource]) {
    const std::string_view name = dictionary.string(label.key);
    const std::string_view text = dictionary.string(label.text);
    const bool is_text = label.kind == LabelKind::kString;
    if (is_text && text.empty()) continue;
    if (!is_label_name(name) || name.size() > limits.max_label_name_bytes ||
        is_reserved_label(name)) {
      counters.note(IngestNote::kLabelsDropped);
      continue;
    }
    if (name == "service.name" && is_text) {
      dotted_service = text;
      continue;
    }
    if (name == "process.executable.name" && is_text) program = text;
    std::string value = is_text ? std::string(text) : std::to_string(label.number);
    if (const std::string_view earlier = label_value(labels, name); !earlier.empty()) {
      value = fmt::format("{},{}", earlier, value);
    }
    if (value.size() > limits.max_label_value_bytes) {
      value = cut_utf8(value, limits.max_label_value_bytes);
      counters.note(IngestNote::kLabelsCut);
    }
    set_label(labels, name, value, true);
  }
  for (const auto& [name, value] : given.labels) set_label(labels, name, value, true);
  if (label_value(labels, kServiceLabel).empty()) {
    std::string found(dotted_service.empty() ? service : dotted_service);
    if (found.empty()) {
      found = program.empty() ? std::string(kUnknownService)
                              : fmt::format("{}:{}", kUnknownService, program);
    }
    set_label(labels, kServiceLabel, cut_utf8(found, limits.max_label_value_bytes), true);
  }
  if (labels.size() > limits.max_labels_per_series + 1)
    return too_many(limits.max_labels_per_series);
  return labels;
}

}  // namespace vesta
