// The stacks of all threads of some processes, now: those that wait, from what the kernel saved
// when they left user code; those that run, from a sample each. No thread is stopped or touched.
// Loads kernel programs for as long as it takes. Plain function; one at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/dump/stack_namer.h"
#include "base/result.h"

namespace vesta::agent {

struct DumpOptions {
  std::vector<uint32_t> pids;
  bool kernel_stacks = true;
  SymbolizerOptions symbolizer;
  std::string cache_folder;  // for unwind tables; empty: none
};

struct DumpedThread {
  uint32_t tid = 0;
  std::string name;
  std::string state;              // "sleeping", "running" …
  std::vector<DumpFrame> frames;  // innermost first
  std::string problem;            // why the stack is not whole; empty when it is
};

struct DumpedProcess {
  uint32_t pid = 0;
  std::string name;
  std::string executable;             // path as the process sees it; empty when not known
  std::vector<DumpedThread> threads;  // by id
};

struct ThreadDump {
  std::vector<DumpedProcess> processes;  // in the order they were asked for
  std::string kernel_problem;            // why kernel frames have no names; empty when they have
};

// kNotFound for a process that is not there, kPermission with what is missing.
Result<ThreadDump> dump_threads(const DumpOptions& options);

}  // namespace vesta::agent
