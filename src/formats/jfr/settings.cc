#include "formats/jfr/settings.h"

#include <charconv>
#include <limits>

#include "base/time.h"

namespace vesta::jfr {

namespace {

std::optional<int64_t> parse_count(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

int64_t nanoseconds_of(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us") return 1'000;
  if (unit == "ms") return 1'000'000;
  if (unit == "s") return kSecond;
  if (unit == "m") return kMinute;
  if (unit == "h") return kHour;
  if (unit == "d") return kDay;
  return 0;
}

}  // namespace

std::optional<int64_t> parse_period_ns(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value <= 0) return {};
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  if (unit.starts_with('/')) return nanoseconds_of(unit.substr(1)) / value;
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const int64_t factor = nanoseconds_of(unit);
  if (factor == 0 || value > std::numeric_limits<int64_t>::max() / factor) return {};
  return value * factor;
}

void Settings::apply(std::string_view event_name, std::string_view name, std::string_view value) {
  if (name == "event" && event_name == "jdk.ActiveRecording") {
    event_ = value;
    async_profiler_ = true;
  } else if (event_name == "jdk.ExecutionSample") {
    if (name == "period") period_ = parse_period_ns(value);
    if (name == "interval") {
      interval_ = parse_count(value);
      async_profiler_ = true;
    }
    if (name == "wall") wall_ = parse_count(value);
  } else if (event_name == "profiler.WallClockSample" || event_name == "jdk.WallClockSample") {
    if (name == "interval") wall_ = parse_count(value);
  } else if (event_name == "datadog.ExecutionSample" && name == "interval") {
    set_datadog_intervals(parse_count(value).value_or(0), 0);
  } else if (event_name == "datadog.MethodSample" && name == "interval") {
    set_datadog_intervals(0, parse_count(value).value_or(0));
  } else if (event_name == "jdk.NativeMethodSample") {
    if (name == "period") native_period_ = parse_period_ns(value);
  } else if (event_name == "jdk.CPUTimeSample") {
    if (name == "throttle") cpu_time_period_ = parse_period_ns(value);
  }
}

void Settings::set_datadog_intervals(int64_t cpu_ns, int64_t wall_ns) {
  if (cpu_ns > 0) datadog_cpu_ = cpu_ns;
  if (wall_ns > 0) datadog_wall_ = wall_ns;
}

bool Settings::samples_are_time() const {
  return event_.empty() || event_ == "cpu" || event_ == "wall" || event_ == "itimer" ||
         event_ == "ctimer" || event_ == "cpu-clock" || event_ == "task-clock";
}

int64_t Settings::execution_interval() const {
  if (interval_.value_or(0) > 0) return *interval_;
  if (!samples_are_time()) return 1;
  if (is_wall()) return kAsyncWallDefault;
  if (interval_ || (async_profiler_ && !period_)) return kAsyncDefault;
  return period_.value_or(kJdkDefault);
}

int64_t Settings::native_interval_ns() const {
  return native_period_.value_or(kJdkDefault);
}

int64_t Settings::wall_interval_ns() const {
  if (wall_) return *wall_ > 0 ? *wall_ : kAsyncWallDefault;
  return is_wall() ? execution_interval() : kAsyncWallDefault;
}

}  // namespace vesta::jfr
