// Profiles without end: samples the whole host and hands over a batch for every window of time,
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
#include <string>
#include <vector>

#include "agent/naming/name_cache.h"
#include "agent/naming/symbolizer.h"
#include "agent/profiles/window_builder.h"
#include "agent/stream/sampling.h"
#include "base/mutex.h"

namespace vesta::agent {

struct WindowProfilerOptions {
  SamplingOptions sampling;
  std::vector<ProfileRequest> profiles = {};  // of the sampling's probes; empty: one for each
  SymbolizerOptions symbolizer;
  uint64_t name_cache_bytes = 12ULL << 20;
  int64_t duration_ns = 10'000'000'000;
  int64_t first_duration_ns = 2'500'000'000;  // somebody may be waiting for the first one
  // What a sample waits for its names, in windows; then it is sent with the names that are known.
  uint32_t naming_grace_windows = 3;
  // How long names are looked up after stop().
  int64_t stop_grace_ns = 8'000'000'000;
  ProfileFilters filters;
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
    std::map<std::string, StackCoverage> coverage;
    std::string kernel_problem;   // why kernel frames have no names
    std::string runtime_problem;  // why frames of a runtime have none
  };

  static Result<std::unique_ptr<WindowProfiler>> start(WindowProfilerOptions options);
  ~WindowProfiler() override;

  // From the next window on.
  void change(int64_t duration_ns, ProfileFilters filters);
  void set_rate(size_t probe, uint32_t rate) { sampling_->set_rate(probe, rate); }
  // Lets go of half of what can be read again, soon. Any thread.
  void shed() { is_to_shed_ = true; }
  // The last window is handed over before it returns, within the options' grace or little more.
  void stop();

  // From any thread.
  Facts facts() const;
  // Of the facts, cheaper.
  std::string kernel_problem() const;
  std::string runtime_problem() const;
  const Sampling& sampling() const { return *sampling_; }

 private:
  WindowProfiler(std::unique_ptr<Sampling> sampling, WindowProfilerOptions options);

  void add(const ResolvedSamples& samples) override;
  void note_complete(uint64_t time_ns) override;
  void tick() override;
  bool tidy() override;
  void release_pages() override { symbolizer_.release_pages(); }
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

  mutable Mutex mutex_;
  Facts facts_ GUARDED_BY(mutex_);
  int64_t duration_ns_ GUARDED_BY(mutex_);
  std::optional<ProfileFilters> new_filters_ GUARDED_BY(mutex_);
};

}  // namespace vesta::agent
