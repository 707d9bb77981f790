// Busy threads, each 30 calls deep in functions of different frame sizes, built without frame
// pointers: what profilers are compared on. Ends on SIGTERM and prints how much work a second of
// CPU time did, so that what a profiler takes away in interrupts shows.
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int kDepth = 28;  // with burn() and thread_main(): 30

std::atomic<bool> is_over = false;

struct Work {
  uint64_t rounds = 0;
  double cpu_seconds = 0;
};

}  // namespace

// With names of their own, not in a namespace: they are looked for in the stacks.
extern "C" {

__attribute__((noipa)) uint64_t burn(uint64_t seed) {
  for (int i = 0; i < 20'000; ++i) {
    seed ^= seed << 13U;
    seed ^= seed >> 7U;
    seed ^= seed << 17U;
  }
  return seed;
}
}

template <int Level>
__attribute__((noipa)) uint64_t level(uint64_t seed) {
  volatile uint64_t frame[1 + Level % 7] = {};
  frame[0] = seed;
  uint64_t result = 0;
  if constexpr (Level == 0) {
    for (int i = 0; i < 50; ++i) result ^= burn(seed + static_cast<uint64_t>(i) + 1);
  } else {
    result = level<Level - 1>(seed + Level);
  }
  return result + frame[0];
}

extern "C" __attribute__((noipa)) void thread_main(Work* work) {
  uint64_t seed = 88172645463325252ULL;
  while (!is_over.load(std::memory_order_relaxed)) {
    seed = level<kDepth - 1>(seed) | 1U;
    ++work->rounds;
  }
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  work->cpu_seconds = static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2;
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::vector<Work> work(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  for (Work& one : work) running.emplace_back(thread_main, &one);
  int signal = 0;
  ::sigwait(&signals, &signal);
  is_over = true;
  Work sum;
  for (size_t i = 0; i < work.size(); ++i) {
    running[i].join();
    sum.rounds += work[i].rounds;
    sum.cpu_seconds += work[i].cpu_seconds;
  }
  std::printf("%.4f\n", static_cast<double>(sum.rounds) / sum.cpu_seconds);
  return 0;
}
