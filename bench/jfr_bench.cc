// How fast a flight recording becomes a ProfileBatch, on one core: on a recording made here, in
// which most of the bytes are events, or on those whose paths are given as arguments.
//   build/bench/jfr_bench [RECORDING.jfr ...] [--benchmark_…]
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "formats/jfr/reader.h"
#include "formats/jfr/test_recording.h"

namespace vesta {
namespace {

// Stacks, threads and classes in the numbers that a service has in a minute, and allocation events
// of them until the chunk is full.
std::string make_recording(size_t bytes) {
  std::mt19937 random(1);
  const auto below = [&](size_t limit) { return random() % limit; };
  jfr::TestChunk chunk;
  chunk.type("jdk.ObjectAllocationInNewTLAB", {{"startTime", "long"},
                                               {"eventThread", "java.lang.Thread", true},
                                               {"stackTrace", "jdk.types.StackTrace", true},
                                               {"objectClass", "java.lang.Class", true},
                                               {"allocationSize", "long"},
                                               {"tlabSize", "long"}});
  std::vector<int64_t> methods;
  std::vector<int64_t> classes;
  std::vector<int64_t> threads;
  std::vector<int64_t> stacks;
  for (int i = 0; i < 2'000; ++i)
    methods.push_back(chunk.method(fmt::format("com/example/shop/Service{}", i / 10),
                                   fmt::format("method{}", i), "(Ljava/lang/String;)V"));
  for (int i = 0; i < 300; ++i)
    classes.push_back(chunk.class_(fmt::format("com/example/shop/Item{}", i)));
  for (int i = 0; i < 64; ++i) threads.push_back(chunk.thread(fmt::format("worker-{}", i)));
  for (int i = 0; i < 20'000; ++i) {
    std::vector<jfr::TestFrame> frames(20 + below(40));
    for (jfr::TestFrame& frame : frames)
      frame = {methods[below(methods.size())], static_cast<int>(below(5)) * 7 + 10};
    stacks.push_back(chunk.stack(frames));
  }
  constexpr size_t kEventBytes = 24;
  int64_t ticks = 1'000'000'000;
  for (size_t written = 0; written < bytes; written += kEventBytes) {
    // A place in the code allocates one class, on a few threads; few places allocate much.
    const size_t place = below(1 + below(1 + below(stacks.size())));
    chunk.event("jdk.ObjectAllocationInNewTLAB",
                chunk.encoder()
                    .long_(ticks += 1 + static_cast<int64_t>(below(20'000)))
                    .long_(threads[(place + below(4)) % threads.size()])
                    .long_(stacks[place])
                    .long_(classes[place % classes.size()])
                    .long_(16 + 8 * static_cast<int64_t>(below(64)))
                    .long_(65'536)
                    .take());
  }
  return chunk.finish();
}

void read_recording(benchmark::State& state, const std::string& bytes) {
  size_t rows = 0;
  for (auto _ : state) {
    const Result<ProfileBatch> batch = read_jfr(bytes, {});
    if (!batch) {
      state.SkipWithError(batch.error().message.c_str());
      return;
    }
    rows = 0;
    for (const Profile& profile : batch->profiles) rows += profile.samples.size();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes.size()));
  state.counters["file_bytes"] = static_cast<double>(bytes.size());
  state.counters["rows"] = static_cast<double>(rows);
}

}  // namespace
}  // namespace vesta

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::vector<std::pair<std::string, std::string>> recordings;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    recordings.emplace_back(argv[i], std::string(std::istreambuf_iterator<char>(file), {}));
    if (!file || recordings.back().second.empty()) {
      fmt::print(stderr, "{}: cannot be read\n", argv[i]);
      return 1;
    }
  }
  if (recordings.empty()) {
    const size_t megabytes = std::getenv("VESTA_BENCH_QUICK") != nullptr ? 4 : 64;
    recordings.emplace_back("synthetic", vesta::make_recording(megabytes << 20));
  }
  for (const auto& [name, bytes] : recordings) {
    benchmark::RegisterBenchmark(("jfr_read/" + name).c_str(), vesta::read_recording, bytes)
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
