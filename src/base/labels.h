// Names and values that tell things apart: series, targets, processes. A sorted vector, because
// there are few of them and they are compared more often than changed. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vesta {

// Name and value, sorted by name, each name once. A label that is missing is the same as an empty
// one.
using Labels = std::vector<std::pair<std::string, std::string>>;

// "" when there is none of that name.
std::string_view label_value(const Labels& labels, std::string_view name);

// A name that is there keeps its value when `replace` is false.
// REQUIRES: neither name nor value is a view into these labels
void set_label(Labels& labels, std::string_view name, std::string_view value, bool replace);

// No control characters, not empty, UTF-8.
bool is_label_name(std::string_view name);

}  // namespace vesta
