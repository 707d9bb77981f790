#include "base/labels.h"

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"

namespace vesta {
namespace {

template <class Container>
auto lower_bound_of(Container& labels, std::string_view name) {
  return std::ranges::lower_bound(labels, name, {},
                                  [](const auto& label) { return std::string_view(label.first); });
}

}  // namespace

std::string_view label_value(const Labels& labels, std::string_view name) {
  const auto at = lower_bound_of(labels, name);
  return at != labels.end() && at->first == name ? std::string_view(at->second)
                                                 : std::string_view();
}

void set_label(Labels& labels, std::string_view name, std::string_view value, bool replace) {
  const auto at = lower_bound_of(labels, name);
  if (at == labels.end() || at->first != name) {
    labels.emplace(at, name, value);
  } else if (replace) {
    at->second = value;
  }
}

bool is_label_name(std::string_view name) {
  return !name.empty() &&
         std::ranges::none_of(name, [](char c) { return static_cast<uint8_t>(c) < 0x20; }) &&
         is_valid_utf8(name);
}

}  // namespace vesta
