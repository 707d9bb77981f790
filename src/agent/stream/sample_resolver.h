// Turns records of the kernel into samples whose addresses are places in files: finishes stacks
// that the kernel side could not, and feeds the kernel with what it lacked, so that the next one
// needs no help. Everything it refers to must outlive it. One owner thread, the one that drains the
// side band into the process table.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "agent/kernel/sample_ring.h"
#include "agent/process/module_registry.h"
#include "agent/process/process_table.h"
#include "agent/stream/resolved_samples.h"
#include "agent/unwinding/kernel_maps.h"
#include "agent/unwinding/module_slots.h"
#include "agent/unwinding/table_loader.h"

namespace vesta::agent {

struct SampleResolverOptions {
  // Processes that are known to be of interest have everything in the kernel before their first
  // sample; of others, a program that starts has at least its tables built.
  std::vector<uint32_t> targets;
  uint64_t max_waiting_bytes = 64ULL << 20;  // of records whose tables are on their way
};

class SampleResolver {
 public:
  SampleResolver(ProcessTable& processes, ModuleRegistry& modules, TableLoader& loader,
                 ModuleSlots& slots, KernelProcessMap* kernel,
                 const SampleResolverOptions& options = {});

  // Takes a record, to come out of take() at once or after the tables it needs have come.
  void add(const SampleRecord& record);
  // Of a thread that does not run and has left a CPU so many times. Its stack is kept, for
  // add_again().
  void add_waiting(const SampleRecord& record, uint64_t switches);
  // The same thread, which has not run since: false when its stack is not known (any more).
  bool add_again(const vesta_sample& head, uint64_t switches);
  // Stacks that neither of the two named since the last call are forgotten.
  void forget_waiting();
  void add(const KsymbolEvent& event);
  // Tables have come: finish what waited for them.
  void retry();
  // Finishes what was sampled before that time (CLOCK_MONOTONIC) as well as possible: no table will
  // come, or it takes too long.
  void give_up_waiting(uint64_t before_ns = UINT64_MAX);
  bool is_waiting() const { return !waiting_.empty(); }
  // When the oldest sample was taken that waits for a table; UINT64_MAX when none does.
  uint64_t oldest_waiting_ns() const;

  // From now on of interest, or no more.
  void add_target(uint32_t pid);
  void remove_target(uint32_t pid) { targets_.erase(pid); }
  // A child of a target is one, too.
  void note_fork(const ForkEvent& event);
  // Brings the kernel's copy of mappings up to date with the process table, and has tables built
  // for new mappings.
  // Returns the targets that have ended, until the next call.
  std::span<const uint32_t> publish_changes();
  // After the first scan: what was there before is of interest only when it is sampled, unless it
  // is a target.
  void begin();

  ResolvedSamples take();
  // Modules are told of again when they are met: whoever takes the samples may have forgotten them.
  void tell_modules_again() { told_modules_.clear(); }

 private:
  struct Published {
    std::vector<ModuleId> modules;  // one reference each
    size_t mapping_count = 0;
    std::list<uint32_t>::iterator place;  // in published_order_
  };
  struct Stack {
    std::vector<uint64_t> user_frames;  // as in a record
    vesta_unwind_result result = VESTA_UNWIND_COMPLETE;
    bool needs_table = false;
  };

  class Target;

  Stack finish_stack(const SampleRecord& record);
  void append(const SampleRecord& record, std::span<const uint64_t> user_frames,
              vesta_unwind_result result);
  // The record tells who ended an event: kept until that comes.
  void keep_ender(const ResolvedSample& sample, uint64_t link);
  void add_ender(ResolvedSample& sample, uint64_t link);
  // Where the first of them is now.
  uint32_t add_frames(std::span<const CodeAddress> frames);
  bool keep_waiting(const SampleRecord& record);
  void append_user_frames(const SampleRecord& record, std::span<const uint64_t> user_frames,
                          ResolvedSample& sample);
  void append_runtime_frame(uint32_t process, uint64_t head, uint64_t payload);
  std::shared_ptr<const SampledProcess> process_of(const vesta_sample& head);
  void forget_process(uint32_t pid);
  void end_process(const SampledProcess& process);
  void note_module(ModuleId module);
  void publish(uint32_t pid);
  void unpublish(uint32_t pid);
  void request_tables(uint32_t pid);
  bool make_room_for_process(uint32_t keep);

  ProcessTable& processes_;
  ModuleRegistry& modules_;
  TableLoader& loader_;
  ModuleSlots& slots_;
  KernelProcessMap* const kernel_;
  const SampleResolverOptions options_;

  struct Waiting {
    std::vector<char> record;  // as it came
    std::vector<StackPiece> more_stack;
    uint64_t time_ns = 0;
    uint64_t link = 0;
  };
  static uint64_t bytes_of(const Waiting& waiting);
  struct KeptStack {
    uint64_t switches = 0;
    uint64_t round = 0;  // when it was last named
    ResolvedSample sample;
    std::vector<CodeAddress> frames;
  };
  // Who ended an event, until the event comes.
  struct KeptEnder {
    EventEnder ender;
    std::vector<CodeAddress> frames;
  };
  std::unordered_map<uint64_t, KeptEnder> enders_;  // by link
  std::deque<uint64_t> ender_order_;                // oldest first; some have been used
  std::unordered_set<uint64_t> waiting_enders_;     // links of those in waiting_
  std::deque<Waiting> waiting_;
  uint64_t waiting_bytes_ = 0;
  std::unordered_map<uint32_t, KeptStack> kept_;  // by thread
  uint64_t keeping_round_ = 0;                    // of forget_waiting()
  ResolvedSamples out_;
  std::unordered_set<ModuleId> told_modules_;
  struct KnownProcess {
    std::shared_ptr<const SampledProcess> info;
    const Process* source = nullptr;  // another program (exec) or another process is another entry
  };
  std::unordered_map<uint32_t, KnownProcess> known_processes_;
  uint32_t last_process_index_ = 0;
  // By process, the numbers of frames that runtimes have to name: by head and payload.
  std::unordered_map<uint32_t, std::map<std::pair<uint64_t, uint64_t>, uint64_t>> runtime_frames_;
  uint64_t last_runtime_frame_ = 0;
  std::unordered_set<uint32_t> targets_;
  std::unordered_map<uint32_t, Published> published_;
  std::list<uint32_t> published_order_;  // longest without a sample first
  std::vector<uint32_t> changed_;        // scratch
  std::vector<uint32_t> gone_;           // scratch
  std::vector<uint32_t> ended_targets_;
  std::vector<vesta_mapping> mappings_;  // scratch
};

}  // namespace vesta::agent
