#include "agent/windows/window_profiler.h"

#include "base/clock.h"

namespace vesta::agent {
namespace {

// Longer than it takes until modules in use are told of again.
constexpr uint64_t kForgetNs = 600'000'000'000;

}  // namespace

WindowProfiler::WindowProfiler(std::unique_ptr<Sampling> sampling, WindowProfilerOptions options)
    : sampling_(std::move(sampling)),
      options_(std::move(options)),
      symbolizer_(options_.symbolizer),
      names_(symbolizer_, options_.name_cache_bytes),
      builder_(names_, options_.resource_of, options_.host),
      duration_ns_(options_.duration_ns) {
  builder_.set_filters(options_.filters);
}

WindowProfiler::~WindowProfiler() {
  stop();
}

Result<std::unique_ptr<WindowProfiler>> WindowProfiler::start(WindowProfilerOptions options) {
  VESTA_ASSIGN(auto sampling, Sampling::load(options.sampling));
  std::unique_ptr<WindowProfiler> out(new WindowProfiler(std::move(sampling), std::move(options)));
  // Filters hold from the first window on.
  (void)out->builder_.cut({});
  out->begin_window(out->options_.first_duration_ns);
  VESTA_TRY(out->sampling_->run(*out));
  return out;
}

void WindowProfiler::change(int64_t duration_ns, WindowFilters filters) {
  const std::lock_guard lock(mutex_);
  duration_ns_ = duration_ns;
  new_filters_ = std::move(filters);
}

void WindowProfiler::stop() {
  if (std::exchange(is_stopped_, true)) return;
  sampling_->stop();
  cut();
}

void WindowProfiler::add(const ResolvedSamples& samples) {
  for (const auto& module : samples.modules) symbolizer_.add_module(module);
  for (const auto& process : samples.processes) symbolizer_.add_process(process);
  for (const KernelSymbolChange& change : samples.kernel_symbols) symbolizer_.apply(change);
  if (!samples.kernel_symbols.empty()) names_.forget_kernel();
  builder_.add(samples);
  for (const uint32_t process : samples.ended) symbolizer_.forget_process(process);
}

void WindowProfiler::tick() {
  if (monotonic_ns() < window_end_ns_) return;
  cut();
  begin_window(next_length());
}

void WindowProfiler::tidy() {
  symbolizer_.release_pages();
  if (is_to_shed_.exchange(false)) {
    names_.clear();
    symbolizer_.close_modules();
  }
  if (monotonic_ns() - last_forget_ns_ < kForgetNs) return;
  last_forget_ns_ = monotonic_ns();
  symbolizer_.forget_idle_modules();
}

void WindowProfiler::begin_window(int64_t length_ns) {
  window_start_ns_ = monotonic_ns();
  window_end_ns_ = window_start_ns_ + static_cast<uint64_t>(length_ns);
  window_unix_ns_ = static_cast<int64_t>(clock_ns(CLOCK_REALTIME));
}

// To the next multiple of the duration; a clock that was set makes one window shorter or longer, at
// most by half.
int64_t WindowProfiler::next_length() const {
  const std::lock_guard lock(mutex_);
  const int64_t left = duration_ns_ - static_cast<int64_t>(clock_ns(CLOCK_REALTIME)) % duration_ns_;
  return left < duration_ns_ / 2 ? left + duration_ns_ : left;
}

void WindowProfiler::cut() {
  const uint64_t now = monotonic_ns();
  for (const auto& [reason, count] : sampling_->counters().lost) {
    uint64_t& before = lost_before_[reason];
    builder_.add_lost(reason, count - before);
    before = count;
  }
  {
    const std::lock_guard lock(mutex_);
    if (new_filters_) builder_.set_filters(*std::exchange(new_filters_, std::nullopt));
  }
  WindowTimes times;
  times.start_ns = window_start_ns_;
  times.start_unix_ns = window_unix_ns_;
  times.duration_ns = static_cast<int64_t>(now - window_start_ns_);
  times.period_ns = sampling_->period_ns();
  ProfileBatch batch = builder_.cut(times);
  {
    const std::lock_guard lock(mutex_);
    ++facts_.windows;
    facts_.profiles += batch.profiles.size();
    facts_.samples = builder_.samples();
    facts_.other_samples = builder_.other_samples();
    facts_.folded_frames = builder_.folded_frames();
    facts_.name_hits = names_.hits();
    facts_.name_misses = names_.misses();
    facts_.name_bytes = names_.byte_size();
    facts_.coverage = builder_.coverage();
    facts_.kernel_problem = symbolizer_.kernel_problem();
  }
  names_.shrink();
  if (!batch.profiles.empty()) options_.on_window(std::move(batch));
}

WindowProfiler::Facts WindowProfiler::facts() const {
  const std::lock_guard lock(mutex_);
  return facts_;
}

std::string WindowProfiler::kernel_problem() const {
  const std::lock_guard lock(mutex_);
  return facts_.kernel_problem;
}

}  // namespace vesta::agent
