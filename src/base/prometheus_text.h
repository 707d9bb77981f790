// The text format that Prometheus scrapes. Appends to a string it owns; not thread-safe.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace vesta {

class PrometheusText {
 public:
  using Label = std::pair<std::string_view, std::string_view>;

  // Starts a metric; `type` is counter, gauge or histogram. Its samples follow.
  void metric(std::string_view name, std::string_view type, std::string_view help);
  // Of the metric that was started; `suffix` is "_bucket" and the like.
  void sample(std::initializer_list<Label> labels, double value, std::string_view suffix = {});

  // A metric with one sample.
  void one(std::string_view name, std::string_view type, std::string_view help, double value) {
    metric(name, type, help);
    sample({}, value);
  }

  std::string take() { return std::move(out_); }

 private:
  std::string out_;
  std::string name_;
};

}  // namespace vesta
