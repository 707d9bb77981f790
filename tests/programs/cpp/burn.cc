// Does a known amount of work and prints as JSON what it did.
// Usage: burn cpu ROUNDS | burn heap. Start it under a sampler (perf), or build it with
// -DVESTA_GPERFTOOLS_CPU or -DVESTA_GPERFTOOLS_HEAP and give the file to write as last argument.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#if defined(VESTA_GPERFTOOLS_CPU)
#include <gperftools/profiler.h>
#elif defined(VESTA_GPERFTOOLS_HEAP)
#include <gperftools/heap-profiler.h>
#endif

namespace victim {

struct Xorshift {
  static inline __attribute__((always_inline)) uint64_t step(uint64_t x) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
  }
};

template <int Steps>
inline __attribute__((always_inline)) uint64_t spin(uint64_t x, unsigned scale) {
  for (unsigned i = 0; i < Steps * scale; ++i) x = Xorshift::step(x);
  return x;
}

// Asking for the frame address makes the compiler set up a frame pointer, which it leaves out of
// leaf functions even with -fno-omit-frame-pointer; without one, perf skips the caller.
__attribute__((noinline)) uint64_t heavy(uint64_t x, unsigned scale) {
  x = spin<150000>(x, scale);
  asm volatile("" : "+r"(x) : "r"(__builtin_frame_address(0)));
  return x;
}

__attribute__((noinline)) uint64_t medium(uint64_t x, unsigned scale) {
  x = spin<75000>(x, scale);
  asm volatile("" : "+r"(x) : "r"(__builtin_frame_address(0)));
  return x;
}

__attribute__((noinline)) uint64_t light(uint64_t x, unsigned scale) {
  x = spin<25000>(x, scale);
  asm volatile("" : "+r"(x) : "r"(__builtin_frame_address(0)));
  return x;
}

// Burns at 60:30:10 in rounds of varying length, so that they do not fall into step with the
// sampling interval, and without a system call between them, which would be where a busy machine
// switches programs, and so put rounds in step with slices of CPU time. 1300 rounds take some two
// seconds.
__attribute__((noinline)) uint64_t burn(long rounds) {
  uint64_t x = 88172645463325252u, dice = 2463534242u;
  for (long i = 0; i < rounds; ++i) {
    dice = Xorshift::step(dice);
    const unsigned scale = 1 + dice % 8;
    x = heavy(x, scale);
    x = medium(x, scale);
    x = light(x, scale);
  }
  return x;
}

constexpr size_t kBlocks = 64;
constexpr size_t kBlockBytes = 64 * 1024;
using Block = std::unique_ptr<char[]>;

__attribute__((noinline)) void keep_blocks(std::vector<Block>& kept) {
  for (size_t i = 0; i < kBlocks; ++i) {
    kept.emplace_back(new char[kBlockBytes]);
    memset(kept.back().get(), 1, kBlockBytes);
  }
}

__attribute__((noinline)) void drop_blocks() {
  for (size_t i = 0; i < kBlocks; ++i) {
    Block block(new char[kBlockBytes]);
    memset(block.get(), 1, kBlockBytes);
  }
}

}  // namespace victim

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "cpu" && argc > 2) {
    const long rounds = atol(argv[2]);
#if defined(VESTA_GPERFTOOLS_CPU)
    if (argc < 4 || !ProfilerStart(argv[3])) return 1;
#endif
    const auto start = std::chrono::steady_clock::now();
    const uint64_t x = victim::burn(rounds);
    const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - start;
#if defined(VESTA_GPERFTOOLS_CPU)
    ProfilerStop();
#endif
    printf("{\"elapsed_ns\": %lld, \"checksum\": %llu}\n", static_cast<long long>(elapsed.count()),
           static_cast<unsigned long long>(x));
    return 0;
  }
  if (mode == "heap") {
#if defined(VESTA_GPERFTOOLS_HEAP)
    if (argc < 3) return 1;
    HeapProfilerStart(argv[2]);
#endif
    std::vector<victim::Block> kept;
    kept.reserve(victim::kBlocks);
    victim::keep_blocks(kept);
    victim::drop_blocks();
#if defined(VESTA_GPERFTOOLS_HEAP)
    HeapProfilerDump("done");
    HeapProfilerStop();
#endif
    printf(
        "{\"kept_bytes\": %zu, \"kept_objects\": %zu, \"dropped_bytes\": %zu, \"dropped_objects\": "
        "%zu}\n",
        kept.size() * victim::kBlockBytes, kept.size(), victim::kBlocks * victim::kBlockBytes,
        victim::kBlocks);
    return 0;
  }
  fprintf(stderr, "usage: burn cpu ROUNDS [PROFILE] | burn heap [PREFIX]\n");
  return 2;
}
