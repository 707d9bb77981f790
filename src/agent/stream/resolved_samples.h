// What the collecting thread passes to the thread that names and adds up: samples whose addresses
// are already places in files, because only the collecting thread knows what was mapped where at
// the time. Plain data, moved between the threads.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <shared/sample.h>
#include "agent/process/module_registry.h"
#include "agent/process/process_table.h"
#include "base/table_hash.h"
#include "runtimes/runtime.h"

namespace vesta::agent {

// Where code is. An address that was returned to stands for the call before it: it is already one
// less.
struct CodeAddress {
  enum class Kind : uint32_t {
    kModule,     // `address` in the module's own address space
    kKernel,     // absolute
    kAnonymous,  // absolute in the process: memory that a compiler at run time wrote, or a mapping
                 // we do not know
    kGuessedCaller,  // not code: the frame after it is only likely to be the caller
    kRuntime,        // `address` is the number of a RuntimeSampleFrame of the process
  };
  uint64_t address = 0;
  Kind kind = Kind::kModule;
  uint32_t owner = 0;  // ModuleId, or index of the process for kAnonymous and kRuntime; else 0
  friend bool operator==(const CodeAddress&, const CodeAddress&) = default;
};

// What naming and labelling need of a process; stays valid when it has ended.
struct SampledProcess {
  uint32_t index = 0;  // counts up; a process id may come again, this not
  uint32_t pid = 0;
  std::string name;  // of its first thread
  std::string executable;
  std::shared_ptr<const ProcessRoot> root;  // to read its perf map; may be null
  uint32_t namespace_pid = 0;
  uint32_t uid = 0;
  uint64_t start_ns = 0;  // when it was forked, CLOCK_MONOTONIC; 0 when it was there before us
  std::string cgroup;     // text of /proc/PID/cgroup
  bool is_kernel_thread = false;
};

// A frame that a runtime has to name. Numbers count up and mean the same frame for good.
struct RuntimeSampleFrame {
  uint32_t process = 0;  // index of a SampledProcess
  uint8_t runtime = 0;
  RuntimeFrame frame;
  uint64_t number = 0;
};

// Who ended the event of a sample, as the thread that ran when it ended.
struct EventEnder {
  uint32_t process = 0;      // index of a SampledProcess; 0: not known, and nothing else is
  uint32_t tid = 0;          // 0: no thread of anybody, an idle CPU
  uint32_t first_frame = 0;  // in ResolvedSamples::frames
  uint32_t frame_count = 0;
  vesta_unwind_result result = VESTA_UNWIND_COMPLETE;
  char thread[VESTA_COMM_BYTES] = {};
};

struct ResolvedSample {
  uint32_t process = 0;  // index of a SampledProcess
  uint32_t tid = 0;
  uint32_t cpu = 0;
  uint32_t first_frame = 0;  // in ResolvedSamples::frames
  uint32_t frame_count = 0;
  uint32_t probe = 0;  // its number: which of the probes that were asked for
  vesta_unwind_result result = VESTA_UNWIND_COMPLETE;
  // Of user frames, those that no unwind table led to: found by rules read from instructions, or
  // only likely.
  uint32_t decoded_frames = 0;
  uint32_t guessed_frames = 0;
  uint64_t time_ns = 0;                             // CLOCK_MONOTONIC
  std::array<uint64_t, VESTA_MAX_VALUES> values{};  // of the probe's columns
  uint64_t detail = 0;                              // vesta_sample::detail
  uint64_t object = 0;                              // vesta_sample::object
  char thread[VESTA_COMM_BYTES] = {};
  EventEnder ender;
};

// Kernel code that came or went: a BPF program, a trampoline.
struct KernelSymbolChange {
  uint64_t address = 0;
  uint32_t bytes = 0;
  bool removed = false;
  std::string name;
};

// Events of a probe that left no stack, counted at some time since the last count.
struct LostEvents {
  uint32_t probe = 0;
  std::string reason;
  uint64_t count = 0;
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  uint64_t value = 0;    // in the probe's main column; 0: a period for each
};

struct ResolvedSamples {
  std::vector<ResolvedSample> samples;
  std::vector<CodeAddress> frames;  // of all samples; leaf first, kernel before user
  // First met in this batch.
  std::vector<std::shared_ptr<const Module>> modules;
  std::vector<std::shared_ptr<const SampledProcess>> processes;
  std::vector<RuntimeSampleFrame> runtime_frames;
  std::vector<KernelSymbolChange> kernel_symbols;
  // Indexes of processes that have ended; no later batch has samples of them.
  std::vector<uint32_t> ended;
  std::vector<LostEvents> lost;
  // All that was sampled before is in this batch or in an earlier one; CLOCK_MONOTONIC.
  uint64_t complete_until_ns = 0;

  // Nothing that anybody has to hear of: what is told once must not get lost with a batch that has no
  // sample.
  bool empty() const {
    return samples.empty() && modules.empty() && processes.empty() && runtime_frames.empty() &&
           kernel_symbols.empty() && ended.empty() && lost.empty();
  }
};

}  // namespace vesta::agent
