// Pyroscope's way to name what a profile is of: `app.cpu{key=value,key2=value2}`. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "ingest/series_labels.h"

namespace vesta::pyroscope {

struct AppName {
  std::string app;
  LabelPairs labels;  // a later one replaces an earlier one of the same name; none begins with "__"
};

// kInvalidInput with the place of what is wrong. Values are bare: they hold no comma and no brace.
Result<AppName> parse_app_name(std::string_view text);

// "checkout.cpu" is ("checkout", "cpu"), "checkout" is ("checkout", "").
std::pair<std::string_view, std::string_view> split_suffix(std::string_view app);

// `key=value,key2=value2` alone, with or without braces around it.
Result<LabelPairs> parse_bare_labels(std::string_view text);

}  // namespace vesta::pyroscope
