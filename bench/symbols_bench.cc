// What names cost: building the symbol table, opening DWARF, building a unit's table, and warm
// look-ups with inlined calls. On this program itself, or on the file given first; for the symbol
// table also on libLLVM where it is installed.
//   build/bench/symbols_bench [ELF-FILE] [--benchmark_…]
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "symbols/module_symbols.h"

namespace vesta {
namespace {

std::string subject = "/proc/self/exe";

std::shared_ptr<const ElfFile> open_or_exit(const std::string& path) {
  auto file = ElfFile::open(path);
  if (!file) {
    fmt::print(stderr, "{}: {}\n", path, file.error().message);
    std::exit(1);
  }
  return *file;
}

// Random addresses of the code; the same ones every time.
std::vector<uint64_t> some_addresses(const ElfFile& file, size_t count) {
  const ElfSection* text = file.section(".text");
  std::vector<uint64_t> out;
  std::mt19937_64 random(1);
  if (text == nullptr || text->size == 0) return out;
  for (size_t i = 0; i < count; ++i) out.push_back(text->address + random() % text->size);
  return out;
}

void build_symbol_table(benchmark::State& state, const std::string& path) {
  const auto file = open_or_exit(path);
  size_t symbols = 0, bytes = 0;
  for (auto _ : state) {
    const SymbolTable table = SymbolTable::build(file);
    symbols = table.size();
    bytes = table.memory_bytes();
  }
  state.counters["symbols"] = static_cast<double>(symbols);
  state.counters["bytes"] = static_cast<double>(bytes);
}

void look_up_symbol(benchmark::State& state, const std::string& path) {
  const auto file = open_or_exit(path);
  const SymbolTable table = SymbolTable::build(file);
  const std::vector<uint64_t> addresses = some_addresses(*file, 100'000);
  size_t i = 0;
  for (auto _ : state) {
    ElfSymbol symbol;
    benchmark::DoNotOptimize(table.lookup(addresses[i], symbol));
    if (++i == addresses.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
}

void open_dwarf(benchmark::State& state) {
  const auto file = open_or_exit(subject);
  for (auto _ : state) benchmark::DoNotOptimize(DwarfSymbols::open(file, {}));
}

// Every unit that covers some of the addresses, once.
void build_units(benchmark::State& state) {
  const auto file = open_or_exit(subject);
  const std::vector<uint64_t> addresses = some_addresses(*file, 200'000);
  std::vector<double> milliseconds;
  size_t bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    DwarfSymbols::Options options;
    options.max_table_bytes = 4UL << 30;
    auto symbols = DwarfSymbols::open(file, std::move(options));
    if (!symbols) return state.SkipWithError("no DWARF");
    milliseconds.clear();
    state.ResumeTiming();
    std::vector<SourceFrame> frames;
    for (const uint64_t address : addresses) {
      frames.clear();
      const size_t before = (*symbols)->statistics().tables_built;
      const auto start = std::chrono::steady_clock::now();
      (*symbols)->lookup(address, frames);
      const auto end = std::chrono::steady_clock::now();
      if ((*symbols)->statistics().tables_built == before) continue;
      milliseconds.push_back(std::chrono::duration<double, std::milli>(end - start).count());
    }
    bytes = (*symbols)->memory_bytes();
  }
  std::ranges::sort(milliseconds);
  if (milliseconds.empty()) return;
  state.counters["units"] = static_cast<double>(milliseconds.size());
  state.counters["median_ms"] = milliseconds[milliseconds.size() / 2];
  state.counters["max_ms"] = milliseconds.back();
  state.counters["bytes"] = static_cast<double>(bytes);
}

void look_up(benchmark::State& state, DemangleStyle style) {
  const auto file = open_or_exit(subject);
  SymbolOptions options;
  options.demangle = style;
  options.max_bytes = 4ULL << 30;
  options.max_name_bytes = 1UL << 30;
  const auto symbols = ModuleSymbols::open(file, subject, options);
  const std::vector<uint64_t> addresses = some_addresses(*file, 100'000);
  std::vector<SourceFrame> frames;
  size_t depth = 0;
  for (const uint64_t address : addresses) {
    frames.clear();
    symbols->lookup(address, frames);
    depth += frames.size();
  }
  size_t i = 0;
  for (auto _ : state) {
    frames.clear();
    benchmark::DoNotOptimize(symbols->lookup(addresses[i], frames));
    if (++i == addresses.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["frames"] =
      static_cast<double>(depth) / static_cast<double>(std::max<size_t>(addresses.size(), 1));
}

void register_all() {
  constexpr const char* kLlvm = "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1";
  std::vector<std::pair<std::string, std::string>> files = {{"subject", subject}};
  if (std::filesystem::exists(kLlvm)) files.emplace_back("libLLVM-14", kLlvm);
  for (const auto& [name, path] : files) {
    benchmark::RegisterBenchmark(
        fmt::format("symbol_table/build/{}", name).c_str(),
        [path = path](benchmark::State& state) { build_symbol_table(state, path); })
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(
        fmt::format("symbol_table/look_up/{}", name).c_str(),
        [path = path](benchmark::State& state) { look_up_symbol(state, path); });
  }
  benchmark::RegisterBenchmark("dwarf/open", open_dwarf)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("dwarf/build_units", build_units)->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("module/look_up/linkage_names", look_up, DemangleStyle::kOff);
  benchmark::RegisterBenchmark("module/look_up/short_names", look_up, DemangleStyle::kShort);
}

}  // namespace
}  // namespace vesta

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc > 1) vesta::subject = argv[1];
  vesta::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
