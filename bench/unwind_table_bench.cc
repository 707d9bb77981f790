// How fast the unwind tables of big files are built, and what memory that takes on the way.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "unwind/unwind_table.h"

namespace vesta {
namespace {

struct Subject {
  std::string name;
  std::vector<std::string> paths;  // the first that is there
};

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> list = {
      {"libLLVM-14", {"/usr/lib/llvm-14/lib/libLLVM-14.so.1"}},
      {"libclang-cpp-14", {"/usr/lib/llvm-14/lib/libclang-cpp.so.14"}},
      {"libc", {"/usr/lib/x86_64-linux-gnu/libc.so.6"}},
      {"libstdc++", {"/usr/lib/x86_64-linux-gnu/libstdc++.so.6"}},
      {"libcrypto", {"/usr/lib/x86_64-linux-gnu/libcrypto.so.3"}},
      {"python3", {"/usr/bin/python3.11"}},
  };
  return list;
}

std::shared_ptr<const ElfFile> open_subject(const Subject& subject) {
  for (const std::string& path : subject.paths) {
    if (auto file = ElfFile::open(path)) return *file;
  }
  return nullptr;
}

void build(benchmark::State& state, const Subject& subject) {
  const auto file = open_subject(subject);
  if (file == nullptr) {
    state.SkipWithError("not on this machine");
    return;
  }
  uint64_t rows = 0;
  for (auto _ : state) {
    auto table = build_unwind_table(*file);
    if (!table) {
      state.SkipWithError(table.error().message.c_str());
      return;
    }
    rows = table->header.row_count;
    benchmark::DoNotOptimize(table->cells.data());
  }
  state.counters["rows"] = static_cast<double>(rows);
  state.SetItemsProcessed(static_cast<int64_t>(rows) * state.iterations());
}

// Time on the processor, best of five.
double seconds_of(auto&& work) {
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const std::clock_t start = std::clock();
    work();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

void print_markdown() {
  fmt::print(
      "| File | Rows | Rules | Table | Bytes per row | Time | Rows/s | Unsupported rows |\n");
  fmt::print("|---|---|---|---|---|---|---|---|\n");
  for (const Subject& subject : subjects()) {
    const auto file = open_subject(subject);
    if (file == nullptr) continue;
    UnwindTable table;
    const double seconds = seconds_of([&] {
      auto built = build_unwind_table(*file);
      if (built) table = std::move(built).value();
    });
    const double rows = table.header.row_count;
    fmt::print("| {} | {} | {} | {:.2f} MB | {:.2f} | {:.1f} ms | {:.1f} M | {} |\n", subject.name,
               table.header.row_count, table.header.rule_count,
               static_cast<double>(table.bytes()) / 1e6, static_cast<double>(table.bytes()) / rows,
               seconds * 1e3, rows / seconds / 1e6, table.unsupported_rows);
  }
}

}  // namespace
}  // namespace vesta

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--markdown") {
    vesta::print_markdown();
    return 0;
  }
  for (const vesta::Subject& subject : vesta::subjects()) {
    benchmark::RegisterBenchmark(("build/" + subject.name).c_str(), vesta::build, subject);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
