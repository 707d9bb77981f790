// What the pages in the browser are told about the place they run in: where links lead, what a core
// costs. Plain data.
#pragma once

#include <string>

namespace vesta::server {

struct UiOptions {
  // Templates, checked when the configuration is read; empty = no such link.
  std::string trace_link;         // with {trace_id}
  std::string span_link;          // with {span_id}, and {trace_id} if it likes
  std::string editor_link;        // with {file}, and {line} if it likes
  double cost_per_core_hour = 0;  // in whatever money; 0 = not shown
  double co2_per_core_hour = 0;   // grams; 0 = not shown
};

}  // namespace vesta::server
