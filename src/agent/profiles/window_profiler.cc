#include "agent/profiles/window_profiler.h"

#include "base/clock.h"
#include "base/mutex.h"

namespace vesta::agent {
namespace {

// Longer than it takes until modules in use are told of again.
constexpr uint64_t kForgetNs = 600'000'000'000;

uint64_t end_of(const WindowTimes& window) {
  return window.start_ns + static_cast<uint64_t>(window.duration_ns);
}

// To the next multiple of the duration on the wall clock; a clock that was set makes one window
// shorter or longer, at most by half.
int64_t window_length(int64_t start_unix_ns, int64_t duration_ns) {
  const int64_t left = duration_ns - start_unix_ns % duration_ns;
  return left < duration_ns / 2 ? left + duration_ns : left;
}

// About as long as that, and to a full second of the wall clock, where events that last are cut.
int64_t first_length(int64_t start_unix_ns, int64_t duration_ns) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  if (duration_ns < kSecondNs) return duration_ns;
  const int64_t end_ns = start_unix_ns + duration_ns + kSecondNs / 2;
  return end_ns - end_ns % kSecondNs - start_unix_ns;
}

}  // namespace

WindowProfiler::WindowProfiler(std::unique_ptr<Sampling> sampling, WindowProfilerOptions options)
    : sampling_(std::move(sampling)),
      options_(std::move(options)),
      symbolizer_(options_.symbolizer),
      names_(symbolizer_, options_.name_cache_bytes),
      builder_(names_, options_.resource_of, options_.host,
               {options_.sampling.probes, options_.filters,
                static_cast<uint64_t>(options_.duration_ns) * options_.naming_grace_windows,
                options_.profiles}),
      duration_ns_(options_.duration_ns) {}

WindowProfiler::~WindowProfiler() {
  stop();
}

Result<std::unique_ptr<WindowProfiler>> WindowProfiler::start(WindowProfilerOptions options) {
  VESTA_ASSIGN(auto sampling, Sampling::load(options.sampling));
  std::unique_ptr<WindowProfiler> out(new WindowProfiler(std::move(sampling), std::move(options)));
  out->plan_window(monotonic_ns(), first_length(static_cast<int64_t>(clock_ns(CLOCK_REALTIME)),
                                                out->options_.first_duration_ns));
  VESTA_TRY(out->sampling_->run(*out));
  return out;
}

void WindowProfiler::change(int64_t duration_ns, ProfileFilters filters) {
  const MutexLock lock(mutex_);
  duration_ns_ = duration_ns;
  new_filters_ = std::move(filters);
}

void WindowProfiler::stop() {
  if (std::exchange(is_stopped_, true)) return;
  names_.stop_by(monotonic_ns() + static_cast<uint64_t>(options_.stop_grace_ns));
  sampling_->stop();
  end_window(monotonic_ns());
  while (!ended_.empty()) cut();
}

void WindowProfiler::add(const ResolvedSamples& samples) {
  // Before the samples, some of which may belong to the next window already.
  tick();
  for (const auto& module : samples.modules) symbolizer_.add_module(module);
  for (const auto& process : samples.processes) symbolizer_.add_process(process);
  for (const RuntimeSampleFrame& frame : samples.runtime_frames)
    symbolizer_.add_runtime_frame(frame);
  for (const KernelSymbolChange& change : samples.kernel_symbols) symbolizer_.apply(change);
  if (!samples.kernel_symbols.empty()) names_.forget_kernel();
  builder_.add(samples);
  for (const uint32_t process : samples.ended) symbolizer_.forget_process(process);
}

void WindowProfiler::tick() {
  // Naming may have taken longer than a window.
  const uint64_t now = monotonic_ns();
  while (now >= end_of(window_)) {
    const uint64_t end_ns = end_of(window_);
    end_window(end_ns);
    const MutexLock lock(mutex_);
    if (new_filters_) builder_.set_filters(*std::exchange(new_filters_, std::nullopt));
    const auto late_ns = static_cast<int64_t>(now - end_ns);
    const int64_t start_unix_ns = static_cast<int64_t>(clock_ns(CLOCK_REALTIME)) - late_ns;
    builder_.begin_window(end_ns);
    plan_window(end_ns, window_length(start_unix_ns, duration_ns_));
  }
}

void WindowProfiler::note_complete(uint64_t time_ns) {
  while (!ended_.empty() && end_of(ended_.front()) <= time_ns) cut();
}

bool WindowProfiler::tidy() {
  symbolizer_.age_tables();
  const bool is_to_shed = is_to_shed_.exchange(false);
  if (is_to_shed) {
    names_.shed();
    symbolizer_.shrink_budget();
  }
  {
    const MutexLock lock(mutex_);
    facts_.tables = symbolizer_.statistics();
  }
  if (monotonic_ns() - last_forget_ns_ < kForgetNs) return is_to_shed;
  last_forget_ns_ = monotonic_ns();
  symbolizer_.forget_idle_modules();
  symbolizer_.restore_budget();
  return is_to_shed;
}

void WindowProfiler::plan_window(uint64_t start_ns, int64_t length_ns) {
  const uint64_t since_ns = monotonic_ns() - start_ns;
  window_.start_ns = start_ns;
  window_.start_unix_ns = static_cast<int64_t>(clock_ns(CLOCK_REALTIME) - since_ns);
  window_.duration_ns = length_ns;
}

void WindowProfiler::end_window(uint64_t end_ns) {
  window_.duration_ns = static_cast<int64_t>(end_ns - window_.start_ns);
  window_.periods = sampling_->periods();
  ended_.push_back(window_);
}

void WindowProfiler::cut() {
  ProfileBatch batch = builder_.cut(ended_.front());
  ended_.pop_front();
  ++windows_;
  profiles_ += batch.profiles.size();
  names_.shrink();
  update_facts();
  if (!batch.profiles.empty()) options_.on_window(std::move(batch));
}

void WindowProfiler::update_facts() {
  const MutexLock lock(mutex_);
  facts_.windows = windows_;
  facts_.profiles = profiles_;
  facts_.samples = builder_.samples();
  facts_.other_samples = builder_.other_samples();
  facts_.folded_frames = builder_.folded_frames();
  facts_.late_stacks = builder_.late_stacks();
  facts_.strays = builder_.strays();
  facts_.name_hits = names_.hits();
  facts_.name_misses = names_.misses();
  facts_.name_bytes = names_.byte_size();
  facts_.tables = symbolizer_.statistics();
  facts_.coverage = builder_.coverage();
  facts_.kernel_problem = symbolizer_.kernel_problem();
  facts_.runtime_problem = symbolizer_.runtime_problem();
}

WindowProfiler::Facts WindowProfiler::facts() const {
  const MutexLock lock(mutex_);
  return facts_;
}

std::string WindowProfiler::kernel_problem() const {
  const MutexLock lock(mutex_);
  return facts_.kernel_problem;
}

std::string WindowProfiler::runtime_problem() const {
  const MutexLock lock(mutex_);
  return facts_.runtime_problem;
}

}  // namespace vesta::agent
