// How fast pprof profiles become a ProfileBatch, against the parser that protoc generates, which
// fills plain messages and understands nothing yet. Same bytes, one run, best of several.
//   pprof_decode_bench [FILE...] [--markdown] [--benchmark_...]
// FILEs, gzip or not, are measured too. With --markdown, standard output is a table of the best
// times and nothing else; VESTA_BENCH_QUICK=1 makes the inputs small.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <time.h>

#include <google/v1/profile.pb.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/common/compression.h"
#include "formats/pprof/reader.h"
#include "synthetic_pprof.h"

namespace vesta {
namespace {

struct Input {
  std::string name;
  std::string bytes;
};

// The fastest repetition of each benchmark, by its name.
std::map<std::string, double>& best_seconds() {
  static std::map<std::string, double> best;
  return best;
}

// Of this thread, kernel included: what else the machine does must not count.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <class Decode>
void measure(benchmark::State& state, const Input& input, const std::string& name,
             Decode&& decode) {
  double best = 1e9;
  for (auto _ : state) {
    const double start = cpu_seconds();
    decode(input.bytes);
    const double took = cpu_seconds() - start;
    best = std::min(best, took);
    state.SetIterationTime(took);
  }
  auto [at, is_new] = best_seconds().try_emplace(name + "/" + input.name, best);
  if (!is_new) at->second = std::min(at->second, best);
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * input.bytes.size()));
}

// Freeing the result is part of the cost of either way, so both are inside the measured time.
void decode_with_vesta(const std::string& bytes) {
  const Result<ProfileBatch> batch = read_pprof(bytes);
  if (!batch) {
    fmt::print(stderr, "{}\n", batch.error().message);
    std::abort();
  }
  benchmark::DoNotOptimize(batch->profiles.front().samples.values.data());
}

void decode_with_libprotobuf(const std::string& bytes) {
  const auto message = std::make_unique<google::v1::Profile>();
  if (!message->ParseFromString(bytes)) std::abort();
  benchmark::DoNotOptimize(message->sample_size());
}

std::string read_input(const char* path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (detect_compression(bytes) == Compression::kGzip) {
    Result<std::string> plain = gunzip(bytes, 2ull << 30);
    if (!plain) {
      fmt::print(stderr, "{}: {}\n", path, plain.error().message);
      std::exit(1);
    }
    bytes = *std::move(plain);
  }
  return bytes;
}

void print_table(const std::vector<Input>& inputs) {
  fmt::print("| input | MB | Vesta, MB/s | libprotobuf, MB/s | ratio |\n|---|---|---|---|---|\n");
  for (const Input& input : inputs) {
    const double size = static_cast<double>(input.bytes.size()) / 1e6;
    const double ours = best_seconds()["vesta/" + input.name];
    const double theirs = best_seconds()["libprotobuf/" + input.name];
    fmt::print("| {} | {:.2f} | {:.0f} | {:.0f} | {:.2f} |\n", input.name, size, size / ours,
               size / theirs, theirs / ours);
  }
}

int run(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const bool is_quick = std::getenv("VESTA_BENCH_QUICK") != nullptr;
  bool as_markdown = false;
  std::vector<Input> inputs;
  inputs.push_back({is_quick ? "20 k samples" : "1 M samples",
                    make_synthetic_pprof({.samples = is_quick ? 20'000u : 1'000'000u})});
  inputs.push_back(
      {"5 k samples, as of a Go program",
       make_synthetic_pprof({.samples = 5'000, .locations = 4'000, .depth = 16, .seed = 2})});
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--markdown") {
      as_markdown = true;
    } else {
      inputs.push_back({argv[i], read_input(argv[i])});
    }
  }

  for (const Input& input : inputs) {
    for (const auto& [name, decode] : {std::pair("vesta", &decode_with_vesta),
                                       std::pair("libprotobuf", &decode_with_libprotobuf)}) {
      const std::string tool = name;
      const auto function = decode;
      benchmark::RegisterBenchmark((tool + "/" + input.name).c_str(),
                                   [&input, tool, function](benchmark::State& state) {
                                     measure(state, input, tool, function);
                                   })
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond)
          ->Repetitions(is_quick ? 1 : 5);
    }
  }
  if (as_markdown) {
    benchmark::ConsoleReporter progress(benchmark::ConsoleReporter::OO_None);
    progress.SetOutputStream(&std::cerr);
    progress.SetErrorStream(&std::cerr);
    benchmark::RunSpecifiedBenchmarks(&progress);
    print_table(inputs);
  } else {
    benchmark::RunSpecifiedBenchmarks();
  }
  return 0;
}

}  // namespace
}  // namespace vesta

int main(int argc, char** argv) {
  return vesta::run(argc, argv);
}
