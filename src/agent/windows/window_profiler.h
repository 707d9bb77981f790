// CPU profiles without end: samples the whole host and hands over a batch for every window of time,
// with what was sampled in it, when all of that has been named. Windows end at multiples of their
// length on the clock on the wall, so that those of all hosts lie side by side. Made, changed and
// stopped by one owner thread; batches come on a thread of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "agent/recording/name_cache.h"
#include "agent/recording/sampling.h"
#include "agent/recording/symbolizer.h"
#include "agent/windows/window_builder.h"

namespace vesta::agent {

struct WindowProfilerOptions {
  SamplingOptions sampling;
  SymbolizerOptions symbolizer;
  uint64_t name_cache_bytes = 12ULL << 20;
  int64_t duration_ns = 10'000'000'000;
  int64_t first_duration_ns = 2'500'000'000;  // somebody may be waiting for the first one
  // What a sample waits for its names, in windows; then it is sent with the names that are known.
  uint32_t naming_grace_windows = 3;
  // How long names are looked up after stop().
  int64_t stop_grace_ns = 8'000'000'000;
  WindowFilters filters;
  ResourceOf resource_of;
  Resource host;
  // May wait: samples queue up meanwhile.
  std::function<void(ProfileBatch)> on_window;
};

class WindowProfiler final : private SampleConsumer {
 public:
  struct Facts {
    uint64_t windows = 0;
    uint64_t profiles = 0;
    uint64_t samples = 0;        // in batches, or of processes that are no targets
    uint64_t other_samples = 0;  // of the latter
    uint64_t folded_frames = 0;
    uint64_t late_stacks = 0;  // sent as addresses, because naming took too long
    uint64_t strays = 0;       // samples that came when their window had been handed over
    uint64_t name_hits = 0;
    uint64_t name_misses = 0;
    uint64_t name_bytes = 0;
    Symbolizer::Statistics tables;
    std::map<std::string, BinaryCoverage> coverage;
    std::string kernel_problem;  // why kernel frames have no names
  };

  static Result<std::unique_ptr<WindowProfiler>> start(WindowProfilerOptions options);
  ~WindowProfiler() override;

  // From the next window on.
  void change(int64_t duration_ns, WindowFilters filters);
  void set_frequency(uint32_t frequency) { sampling_->set_frequency(frequency); }
  // Lets go of half of what can be read again, soon. Any thread.
  void shed() { is_to_shed_ = true; }
  // The last window is handed over before it returns, within the options' grace or little more.
  void stop();

  // From any thread.
  Facts facts() const;
  std::string kernel_problem() const;  // of the facts, cheaper
  const Sampling& sampling() const { return *sampling_; }

 private:
  WindowProfiler(std::unique_ptr<Sampling> sampling, WindowProfilerOptions options);

  void add(const ResolvedSamples& samples) override;
  void note_complete(uint64_t time_ns) override;
  void tick() override;
  void tidy() override;
  void plan_window(uint64_t start_ns, int64_t length_ns);
  void end_window(uint64_t end_ns);
  void cut();
  void update_facts();

  std::unique_ptr<Sampling> sampling_;
  const WindowProfilerOptions options_;
  Symbolizer symbolizer_;
  NameCache names_;
  WindowBuilder builder_;
  WindowTimes window_;             // of now; its duration is what is planned
  std::deque<WindowTimes> ended_;  // windows that may still get samples, oldest first
  uint64_t windows_ = 0;
  uint64_t profiles_ = 0;
  uint64_t last_forget_ns_ = 0;
  bool is_stopped_ = false;
  std::atomic<bool> is_to_shed_{false};

  mutable std::mutex mutex_;
  Facts facts_;                               // guarded by mutex_
  int64_t duration_ns_;                       // guarded by mutex_
  std::optional<WindowFilters> new_filters_;  // guarded by mutex_
};

}  // namespace vesta::agent
