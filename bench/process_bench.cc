// The process table at the rate of a busy host: look-ups of frames, and side-band events applied.
// Target: at least 2 million look-ups per second.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <random>
#include <vector>

#include "agent/process/process_table.h"

namespace {

using namespace vesta::agent;

constexpr uint32_t kFirstPid = 100;
constexpr uint64_t kStart = 1'000'000;

ProcessTableOptions options() {
  ProcessTableOptions out;
  out.proc_root = "/nowhere";
  return out;
}

MmapEvent mmap_event(uint32_t pid, uint64_t number, uint64_t time_ns) {
  MmapEvent event;
  event.time_ns = time_ns;
  event.pid = event.tid = pid;
  event.address = 0x7f0000000000 + (number << 24);
  event.length = 0x100000;
  event.prot = PROT_READ | PROT_EXEC;
  event.path = "[library]";
  return event;
}

// Frames of samples: random addresses in random processes, each with as many mappings.
void BM_Find(benchmark::State& state) {
  const auto processes = static_cast<uint32_t>(state.range(0));
  const auto mappings = static_cast<uint64_t>(state.range(1));
  ModuleRegistry registry(ModuleRegistryOptions{.proc_root = "/nowhere"});
  ProcessTable table(registry, options());
  for (uint32_t pid = kFirstPid; pid < kFirstPid + processes; ++pid) {
    table.apply(ForkEvent{kStart, pid, pid, 1, 1});
    table.apply(CommEvent{kStart + 1, pid, pid, true, "server"});
    for (uint64_t i = 0; i < mappings; ++i) table.apply(mmap_event(pid, i, kStart + 2 + i));
  }
  std::mt19937_64 random(1);
  struct Frame {
    uint32_t pid;
    uint64_t address;
  };
  std::vector<Frame> frames(65536);
  for (Frame& frame : frames) {
    frame = {static_cast<uint32_t>(kFirstPid + random() % processes),
             0x7f0000000000 + (random() % mappings << 24) + random() % 0x100000};
  }
  size_t at = 0;
  uint64_t found = 0;
  for (auto _ : state) {
    const Frame& frame = frames[at++ & 65535];
    found += table.find(frame.pid, frame.address, kStart + 1'000'000) != nullptr ? 1 : 0;
  }
  if (found != static_cast<uint64_t>(state.iterations())) state.SkipWithError("frames not found");
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Find)->Args({1, 30})->Args({100, 30})->Args({1000, 300})->Args({10, 10000});

// A short life: fork, exec, ten mappings, end. One item is one event.
void BM_ApplyShortLives(benchmark::State& state) {
  constexpr uint64_t kMappings = 10;
  ModuleRegistry registry(ModuleRegistryOptions{.proc_root = "/nowhere"});
  ProcessTable table(registry, options());
  std::vector<uint32_t> changed;
  std::vector<uint32_t> gone;
  uint64_t time_ns = kStart;
  uint32_t number = 0;
  for (auto _ : state) {
    const uint32_t pid = kFirstPid + number++ % 30'000;
    table.apply(ForkEvent{++time_ns, pid, pid, 1, 1});
    table.apply(CommEvent{++time_ns, pid, pid, true, "brief"});
    for (uint64_t i = 0; i < kMappings; ++i) table.apply(mmap_event(pid, i, ++time_ns));
    table.apply(ExitEvent{++time_ns, pid, pid});
    time_ns += 1'000'000;
    if (number % 64 == 0) table.take_changes(changed, gone);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kMappings + 3));
  state.counters["memory"] = static_cast<double>(table.memory_bytes());
}
BENCHMARK(BM_ApplyShortLives);

// A prefork server: children that share their parent's 300 mappings. One item is one event.
void BM_ApplyForks(benchmark::State& state) {
  ModuleRegistry registry(ModuleRegistryOptions{.proc_root = "/nowhere"});
  ProcessTable table(registry, options());
  uint64_t time_ns = kStart;
  table.apply(ForkEvent{++time_ns, 10, 10, 1, 1});
  table.apply(CommEvent{++time_ns, 10, 10, true, "server"});
  for (uint64_t i = 0; i < 300; ++i) table.apply(mmap_event(10, i, ++time_ns));
  std::vector<uint32_t> changed;
  std::vector<uint32_t> gone;
  uint32_t number = 0;
  for (auto _ : state) {
    const uint32_t pid = kFirstPid + number++ % 30'000;
    table.apply(ForkEvent{++time_ns, pid, pid, 10, 10});
    table.apply(ExitEvent{++time_ns, pid, pid});
    time_ns += 1'000'000;
    if (number % 64 == 0) table.take_changes(changed, gone);
  }
  state.SetItemsProcessed(state.iterations() * 2);
}
BENCHMARK(BM_ApplyForks);

}  // namespace

BENCHMARK_MAIN();
