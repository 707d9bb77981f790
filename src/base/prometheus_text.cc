#include "base/prometheus_text.h"

#include <fmt/format.h>

#include <cmath>

namespace vesta {
namespace {

void append_escaped(std::string& out, std::string_view value) {
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
    } else {
      if (c == '\\' || c == '"') out += '\\';
      out += c;
    }
  }
}

std::string number_text(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (std::isnan(value)) return "NaN";
  if (value == std::floor(value) && std::abs(value) < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{}", value);
}

}  // namespace

void PrometheusText::metric(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  out_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void PrometheusText::sample(std::initializer_list<Label> labels, double value,
                            std::string_view suffix) {
  out_ += name_;
  out_ += suffix;
  char separator = '{';
  for (const auto& [name, text] : labels) {
    out_ += separator;
    out_ += name;
    out_ += "=\"";
    append_escaped(out_, text);
    out_ += '"';
    separator = ',';
  }
  if (separator == ',') out_ += '}';
  out_ += ' ';
  out_ += number_text(value);
  out_ += '\n';
}

}  // namespace vesta
