// Which label of a series names the machine that it is about. Agents and scrapers write it in
// several ways. Pure functions.
#pragma once

#include <array>
#include <string_view>

#include "base/labels.h"

namespace vesta {

// The first of them that a series has counts.
inline constexpr std::array<std::string_view, 4> kHostLabels = {"host.name", "host_name",
                                                                "hostname", "instance"};

// Empty when there is none.
inline std::string_view host_of(const Labels& labels) {
  for (const std::string_view name : kHostLabels) {
    if (const std::string_view value = label_value(labels, name); !value.empty()) return value;
  }
  return {};
}

}  // namespace vesta
