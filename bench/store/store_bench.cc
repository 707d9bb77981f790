// One phase of the benchmark of stores; store_bench.py runs them one after the other.
//   build/bench/store_bench PHASE ARGUMENT...
#include <cstdio>
#include <string>
#include <vector>

#include "phases.h"

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.empty()) {
    std::fputs("usage: store_bench PHASE ARGUMENT...; bench/store/store_bench.py knows them\n",
               stderr);
    return 2;
  }
  return vesta::bench::run_phase(words.front(), {words.begin() + 1, words.end()});
}
