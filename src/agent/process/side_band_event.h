// What the kernel tells about processes beside the samples, as plain values. Texts are views into
// the buffer that was decoded: valid during the callback that hands the event out. Times are
// CLOCK_MONOTONIC, process ids are those of the pid namespace of whoever opened the events.
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

namespace vesta::agent {

// A mapping became executable: mapped so, or changed to be so.
struct MmapEvent {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint64_t address = 0;
  uint64_t length = 0;
  uint64_t file_offset = 0;
  uint32_t prot = 0;
  uint32_t flags = 0;
  std::string_view path;  // as the process sees it; "//anon", "[vdso]" … when there is no file
  std::string_view build_id;  // raw bytes; when empty, the next two tell the file
  uint64_t device = 0;        // as makedev() gives it
  uint64_t inode = 0;
};

struct CommEvent {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  uint32_t tid = 0;
  bool is_exec = false;
  std::string_view name;
};

// A process, or a thread when pid == parent_pid.
struct ForkEvent {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  uint32_t tid = 0;
  uint32_t parent_pid = 0;
  uint32_t parent_tid = 0;
};

// The end of one thread.
struct ExitEvent {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  uint32_t tid = 0;
};

// Kernel code that comes or goes: JIT-compiled BPF programs, trampolines.
struct KsymbolEvent {
  uint64_t time_ns = 0;
  uint64_t address = 0;
  uint32_t length = 0;
  uint16_t type = 0;  // PERF_RECORD_KSYMBOL_TYPE_*
  bool is_unregister = false;
  std::string_view name;
};

struct BpfProgramEvent {
  uint64_t time_ns = 0;
  uint16_t type = 0;  // PERF_BPF_EVENT_PROG_*
  uint32_t id = 0;
};

// The ring was full; `count` records are missing before this one.
struct LostEvent {
  uint64_t time_ns = 0;
  uint64_t count = 0;
};

using SideBandEvent = std::variant<MmapEvent, CommEvent, ForkEvent, ExitEvent, KsymbolEvent,
                                   BpfProgramEvent, LostEvent>;

inline uint64_t time_of(const SideBandEvent& event) {
  return std::visit([](const auto& e) { return e.time_ns; }, event);
}

}  // namespace vesta::agent
