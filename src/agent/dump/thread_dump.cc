#include "agent/dump/thread_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "agent/dump/thread_reader.h"
#include "agent/process/proc_files.h"
#include "agent/stream/sampling.h"
#include "agent/stream/thread_stack.h"
#include "agent/stream/unwind_result.h"
#include "agent/unwinding/module_slots.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "unwind/table_cache.h"

namespace vesta::agent {
namespace {

using namespace std::chrono_literals;

constexpr size_t kFewBytes = 64 << 10;  // enough for nearly every stack
constexpr size_t kManyBytes = 8 << 20;  // as large as stacks usually may be
constexpr size_t kThreadsAtOnce = 256;  // bounds the memory of copies
// A thread that runs now and then is caught waiting; one that never waits has to be sampled.
constexpr int kQuickRounds = 5;
constexpr auto kRoundPause = 2ms;
constexpr auto kMaxTableWait = 10'000ms;
constexpr uint64_t kMaxSamplingNs = 3'000'000'000;
constexpr uint32_t kSamplingFrequency = 999;
constexpr uint64_t kTableBytes = 512ULL << 20;

std::string thread_name(const char* comm) {
  return {comm, ::strnlen(comm, VESTA_COMM_BYTES)};
}

std::string problem_of(vesta_unwind_result result) {
  return is_complete_stack(result) ? "" : std::string(unwind_result_name(result));
}

// Finishes copied stacks in user space, with the tables of the binaries, and names them.
class StackFinisher {
 public:
  explicit StackFinisher(const DumpOptions& options)
      : cache_(open_cache(options.cache_folder)),
        processes_(registry_),
        loader_(nullptr, cache_ ? &*cache_ : nullptr, {0, kTableBytes}),
        slots_(1),
        resolver_(processes_, registry_, loader_, slots_, nullptr, {options.pids}),
        namer_(options.symbolizer) {
    resolver_.begin();
    (void)loader_.wait_until_idle(kMaxTableWait);
  }

  // Whether the copy reaches as far as the stack does.
  bool finish(const ThreadRecord& record, DumpedThread& out) {
    (void)parse_sample(record.bytes, record.more_stack,
                       [this](const SampleRecord& parsed) { resolver_.add(parsed); });
    // A library that was loaded a moment ago.
    for (int turn = 0; turn < 3 && resolver_.is_waiting(); ++turn) {
      (void)loader_.wait_until_idle(kMaxTableWait);
      resolver_.retry();
    }
    resolver_.give_up_waiting();
    const ResolvedSamples samples = resolver_.take();
    namer_.learn(samples);
    if (samples.samples.size() != 1) return true;
    const ResolvedSample& sample = samples.samples[0];
    out.frames =
        namer_.name(std::span(samples.frames).subspan(sample.first_frame, sample.frame_count));
    out.problem = problem_of(sample.result);
    return sample.result != VESTA_UNWIND_STACK_CUT;
  }

  const Process* process(uint32_t pid) const { return processes_.process(pid); }
  const std::string& kernel_problem() const { return namer_.kernel_problem(); }

 private:
  static std::optional<UnwindTableCache> open_cache(const std::string& folder) {
    if (folder.empty()) return std::nullopt;
    auto cache = UnwindTableCache::open(folder);
    if (!cache.ok()) return std::nullopt;
    return std::move(*cache);
  }

  std::optional<UnwindTableCache> cache_;
  ModuleRegistry registry_;
  ProcessTable processes_;
  TableLoader loader_;
  ModuleSlots slots_;
  SampleResolver resolver_;
  StackNamer namer_;
};

// Keeps the first sample of each thread that is asked for.
class FirstSamples final : public SampleConsumer {
 public:
  FirstSamples(const SymbolizerOptions& options, std::set<uint32_t> wanted)
      : namer_(options), wanted_(std::move(wanted)) {}

  void add(const ResolvedSamples& samples) override {
    namer_.learn(samples);
    for (const ResolvedSample& sample : samples.samples) {
      {
        const MutexLock lock(mutex_);
        if (!wanted_.contains(sample.tid) || found_.contains(sample.tid)) continue;
      }
      DumpedThread thread;
      thread.tid = sample.tid;
      thread.name = thread_name(sample.thread);
      thread.state = "running";
      thread.frames =
          namer_.name(std::span(samples.frames).subspan(sample.first_frame, sample.frame_count));
      thread.problem = problem_of(sample.result);
      const MutexLock lock(mutex_);
      found_.emplace(sample.tid, std::move(thread));
    }
  }
  bool has(uint32_t tid) const {
    const MutexLock lock(mutex_);
    return found_.contains(tid);
  }
  // REQUIRES: sampling has stopped.
  std::map<uint32_t, DumpedThread>& found() { return found_; }

 private:
  StackNamer namer_;
  const std::set<uint32_t> wanted_;
  mutable Mutex mutex_;
  std::map<uint32_t, DumpedThread> found_ GUARDED_BY(mutex_);
};

class Dumper {
 public:
  Dumper(const DumpOptions& options, ThreadReader reader)
      : options_(options), reader_(std::move(reader)), finisher_(options) {}

  Result<ThreadDump> run() {
    for (int round = 0; round < kQuickRounds; ++round) {
      VESTA_TRY(take_waiting());
      if (missing_.empty()) break;
      std::this_thread::sleep_for(kRoundPause);
    }
    if (!missing_.empty()) VESTA_TRY(take_running());
    return finish();
  }

 private:
  // Copies the stacks of threads that wait, and keeps those of threads that did not run meanwhile.
  Status take_waiting() {
    VESTA_ASSIGN(std::vector<vesta_thread> threads, reader_.read());
    last_seen_ = threads;
    missing_.clear();
    std::erase_if(threads, [this](const vesta_thread& t) { return done_.contains(t.tid); });
    for (size_t first = 0; first < threads.size(); first += kThreadsAtOnce) {
      if (first != 0) VESTA_TRY(refresh(threads));
      const auto count = std::min(kThreadsAtOnce, threads.size() - first);
      VESTA_TRY(take_some(std::span(threads).subspan(first, count), kFewBytes));
    }
    return {};
  }

  // What was read before the last group was copied is old.
  Status refresh(std::vector<vesta_thread>& threads) const {
    VESTA_ASSIGN(const std::vector<vesta_thread> now, reader_.read());
    std::map<uint32_t, const vesta_thread*> by_tid;
    for (const vesta_thread& thread : now) by_tid[thread.tid] = &thread;
    for (vesta_thread& thread : threads) {
      if (const auto it = by_tid.find(thread.tid); it != by_tid.end()) thread = *it->second;
    }
    return {};
  }

  Status take_some(std::span<const vesta_thread> threads, size_t max_bytes) {
    std::vector<ThreadRecord> copies;
    for (const vesta_thread& thread : threads) {
      vesta_thread copied = thread;
      if (!options_.kernel_stacks) copied.kernel_frames = 0;
      const bool runs = (thread.flags & VESTA_THREAD_ON_CPU) != 0;
      copies.push_back(runs ? ThreadRecord() : copy_thread(copied, max_bytes));
    }
    VESTA_ASSIGN(const std::vector<vesta_thread> now, reader_.read());
    std::map<uint32_t, const vesta_thread*> after;
    for (const vesta_thread& thread : now) after[thread.tid] = &thread;
    std::vector<vesta_thread> deep;
    for (size_t i = 0; i < threads.size(); ++i) {
      const vesta_thread& thread = threads[i];
      const auto it = after.find(thread.tid);
      if (it == after.end()) continue;  // has ended
      if (!has_not_run(thread, *it->second)) {
        if (!done_.contains(thread.tid)) missing_.insert(thread.tid);
        continue;
      }
      DumpedThread out;
      out.tid = thread.tid;
      out.name = thread_name(thread.comm);
      out.state = thread_state_name(thread);
      const bool is_all = finisher_.finish(copies[i], out);
      done_[thread.tid] = std::move(out);
      if (!is_all && max_bytes < kManyBytes) deep.push_back(thread);
    }
    // One by one, because these copies are large. What was found of them stays when they run.
    for (const vesta_thread& thread : deep) VESTA_TRY(take_some(std::span(&thread, 1), kManyBytes));
    return {};
  }

  // One sample of each thread that was never caught waiting.
  Status take_running() {
    SamplingOptions sampling;
    ProbeOptions& probe = sampling.probes.front().options;
    probe.rate = kSamplingFrequency;
    probe.kernel_stacks = options_.kernel_stacks;
    sampling.cache_folder = options_.cache_folder;
    sampling.targets.tids.assign(missing_.begin(), missing_.end());
    FirstSamples samples(options_.symbolizer, missing_);
    auto loaded = Sampling::load(sampling);
    // A thread that ended meanwhile is no failure: those that are left are looked at once more.
    if (!loaded.ok() || !(*loaded)->run(samples).ok()) return take_waiting();
    const uint64_t deadline = monotonic_ns() + kMaxSamplingNs;
    while (monotonic_ns() < deadline) {
      VESTA_TRY(take_waiting());
      std::erase_if(missing_, [&](uint32_t tid) { return samples.has(tid); });
      if (missing_.empty()) break;
      std::this_thread::sleep_for(kRoundPause * 10);
    }
    (*loaded)->stop();
    for (auto& [tid, thread] : samples.found()) done_.try_emplace(tid, std::move(thread));
    return {};
  }

  Result<ThreadDump> finish() {
    ThreadDump dump;
    for (const uint32_t pid : options_.pids) {
      DumpedProcess process;
      process.pid = pid;
      for (const vesta_thread& thread : last_seen_) {
        if (thread.pid != pid) continue;
        if (thread.tid == pid) process.name = thread_name(thread.comm);
        const auto it = done_.find(thread.tid);
        if (it != done_.end()) {
          process.threads.push_back(std::move(it->second));
        } else {
          process.threads.push_back({thread.tid,
                                     thread_name(thread.comm),
                                     thread_state_name(thread),
                                     {},
                                     "it ran all the time, but no sample arrived"});
        }
      }
      if (process.threads.empty()) {
        return Error{ErrorCode::kNotFound, fmt::format("process {} ended meanwhile", pid), ""};
      }
      std::ranges::sort(process.threads, {}, &DumpedThread::tid);
      if (const Process* known = finisher_.process(pid)) process.executable = known->exe;
      dump.processes.push_back(std::move(process));
    }
    dump.kernel_problem = finisher_.kernel_problem();
    return dump;
  }

  const DumpOptions& options_;
  ThreadReader reader_;
  StackFinisher finisher_;
  std::map<uint32_t, DumpedThread> done_;
  std::set<uint32_t> missing_;  // ran while they were looked at
  std::vector<vesta_thread> last_seen_;
};

}  // namespace

Result<ThreadDump> dump_threads(const DumpOptions& options) {
  TargetOptions targets;
  targets.pids = options.pids;
  VESTA_TRY(SamplingTargets::find(targets));
  VESTA_ASSIGN(ThreadReader reader, ThreadReader::load(options.pids));
  return Dumper(options, std::move(reader)).run();
}

}  // namespace vesta::agent
