// How the recorder was set up, from its ActiveSetting events: what each sample stands for. Carried
// from chunk to chunk, because not every writer repeats its settings. Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace vesta::jfr {

class Settings {
 public:
  // `event_name` is the event that the setting is about, `name` and `value` as in the recording.
  void apply(std::string_view event_name, std::string_view name, std::string_view value);

  // From the configuration that ddprof writes; 0 and less mean that it does not sample that.
  void set_datadog_intervals(int64_t cpu_ns, int64_t wall_ns);

  // Written by async-profiler or a relative of it.
  void set_async_profiler() { async_profiler_ = true; }

  // Nanoseconds (or events, when samples_are_time() is false) per ExecutionSample.
  int64_t execution_interval() const;
  int64_t native_interval_ns() const;
  int64_t wall_interval_ns() const;
  int64_t datadog_cpu_interval_ns() const { return datadog_cpu_.value_or(kAsyncDefault); }
  int64_t datadog_wall_interval_ns() const { return datadog_wall_.value_or(kAsyncWallDefault); }
  int64_t cpu_time_interval_ns() const { return cpu_time_period_.value_or(kAsyncDefault); }

  // async-profiler samples wall-clock time with ExecutionSample events.
  bool is_wall() const { return event_ == "wall"; }
  // False when async-profiler counts a hardware event, a method or a tracepoint instead of time.
  bool samples_are_time() const;
  const std::string& event() const { return event_; }

 private:
  static constexpr int64_t kJdkDefault = 20'000'000;
  static constexpr int64_t kAsyncDefault = 10'000'000;
  static constexpr int64_t kAsyncWallDefault = 50'000'000;

  std::string event_;
  bool async_profiler_ = false;
  std::optional<int64_t> period_;    // of a JDK
  std::optional<int64_t> interval_;  // of async-profiler; 0 = its default
  std::optional<int64_t> wall_;      // of async-profiler, beside another event
  std::optional<int64_t> native_period_;
  std::optional<int64_t> cpu_time_period_;
  std::optional<int64_t> datadog_cpu_;
  std::optional<int64_t> datadog_wall_;
};

// "20 ms", "1 s", "500/s"; nothing for "everyChunk" and the like.
std::optional<int64_t> parse_period_ns(std::string_view text);

}  // namespace vesta::jfr
