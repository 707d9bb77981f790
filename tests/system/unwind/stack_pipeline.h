// The product's way from a kernel record to a whole stack (process table, tables, resolver), with
// frames as addresses in the process, so that an oracle can judge them. Refers to a
// session, which must outlive it. One owner thread. Test code only.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/kernel/kernel_session.h"
#include "agent/process/process_table.h"
#include "agent/process/side_band.h"
#include "agent/stream/sample_resolver.h"
#include "agent/unwinding/kernel_maps.h"
#include "agent/unwinding/module_slots.h"
#include "agent/unwinding/table_loader.h"

namespace vesta::agent {

using Deadline = std::chrono::steady_clock::time_point;

// The instruction that a frame stands for: itself, or the last byte of the call before it.
uint64_t code_address(uint64_t frame);

struct OracleStack {
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t tag = 0;            // what the oracle's program put into vesta_sample::values[0]
  uint64_t stack_pointer = 0;  // … and into vesta_sample::cgroup_id
  vesta_unwind_result result = VESTA_UNWIND_COMPLETE;
  vesta_unwind_result kernel_result = VESTA_UNWIND_COMPLETE;  // before user space went on
  size_t kernel_frames = 0;
  std::vector<uint64_t> code;  // see code_address(); innermost first, user frames only
};

class StackPipeline {
 public:
  struct Options {
    // Processes of interest; their children are, too.
    std::vector<uint32_t> targets;
    // False: the kernel learns nothing, and every stack is finished in user space.
    bool fill_kernel_maps = true;
    uint32_t module_slots = 0;
  };
  static Result<std::unique_ptr<StackPipeline>> start(KernelSession& session,
                                                      const Options& options);

  // Brings everything up to date with what happened to processes.
  void follow_processes();
  // False when the kernel did not get the table of every module of the process in time.
  bool wait_for_tables(uint32_t pid, Deadline deadline);
  // Stacks that came since the last call and need nothing any more; those that still lack a table
  // are waited for.
  std::vector<OracleStack> take(Deadline deadline);
  // Changes whenever the process maps or unmaps code.
  uint64_t version(uint32_t pid) { return processes_.mappings(pid).version; }
  // "libc.so.6+0x1234", for messages.
  std::string place(uint32_t pid, uint64_t address);
  uint64_t damaged_records() const { return session_.damaged_records(); }

 private:
  StackPipeline(KernelSession& session, const Options& options);
  uint64_t address_in_process(uint32_t pid, const CodeAddress& place);
  void remember_mappings(uint32_t pid);
  bool has_all_tables(uint32_t pid);

  struct Head {
    vesta_sample sample;
    size_t kernel_frames;
  };

  KernelSession& session_;
  std::unique_ptr<SideBand> side_band_;
  ModuleRegistry registry_;
  ProcessTable processes_;
  KernelTableMap kernel_tables_;
  KernelProcessMap kernel_processes_;
  ModuleSlots slots_;
  TableLoader loader_;
  SampleResolver resolver_;
  // A process may have ended when its last stacks are looked at.
  std::unordered_map<uint32_t, std::vector<CodeMapping>> known_mappings_;
  std::vector<Head> heads_;  // of stacks that are not finished yet
};

}  // namespace vesta::agent
