#include "base/mapped_file_guard.h"

#include <sys/mman.h>
#include <csignal>

#include <array>
#include <atomic>
#include <cstdint>

namespace vesta {
namespace {

constexpr uintptr_t kPageBytes = 4096;
constexpr size_t kMaxRanges = 4096;

// A signal handler may only touch lock-free state, so this is an array of pairs. A slot is taken
// when `start` is not 0; `end` is written before and cleared after.
struct Range {
  std::atomic<uintptr_t> start{0};
  std::atomic<uintptr_t> end{0};
};
static_assert(std::atomic<uintptr_t>::is_always_lock_free);

constinit std::array<Range, kMaxRanges> g_ranges;
constinit std::atomic<size_t> g_used{0};  // slots ever used; bounds the handler's search
struct sigaction g_previous;              // what was there before us

void on_bus_error(int number, siginfo_t* info, void* context) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  const size_t used = g_used.load(std::memory_order_acquire);
  for (size_t i = 0; i < used; ++i) {
    const uintptr_t start = g_ranges[i].start.load(std::memory_order_acquire);
    if (start <= 1 || address < start || address >= g_ranges[i].end.load()) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): signals give addresses, not pointers.
    void* const page = reinterpret_cast<void*>(address & ~(kPageBytes - 1));
    if (::mmap(page, kPageBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
      return;
  }
  // Not ours: as if this handler had never been there.
  if ((g_previous.sa_flags & SA_SIGINFO) != 0) {
    g_previous.sa_sigaction(number, info, context);
    return;
  }
  ::sigaction(SIGBUS, &g_previous, nullptr);  // the instruction faults again, and now it is final
}

bool install() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return ::sigaction(SIGBUS, &action, &g_previous) == 0;
}

}  // namespace

bool guard_mapped_file(const void* start, size_t bytes) {
  static const bool kInstalled = install();
  if (!kInstalled) return false;
  const auto address = reinterpret_cast<uintptr_t>(start);
  for (size_t i = 0; i < kMaxRanges; ++i) {
    uintptr_t expected = 0;
    // 1 reserves the slot until its end is known.
    if (!g_ranges[i].start.compare_exchange_strong(expected, 1)) continue;
    g_ranges[i].end.store((address + bytes + kPageBytes - 1) & ~(kPageBytes - 1));
    g_ranges[i].start.store(address, std::memory_order_release);
    size_t used = g_used.load();
    while (used < i + 1 && !g_used.compare_exchange_weak(used, i + 1)) {
    }
    return true;
  }
  return false;
}

void unguard_mapped_file(const void* start) {
  const auto address = reinterpret_cast<uintptr_t>(start);
  for (size_t i = 0; i < g_used.load(); ++i) {
    if (g_ranges[i].start.load() != address) continue;
    g_ranges[i].end.store(0);
    g_ranges[i].start.store(0, std::memory_order_release);
    return;
  }
}

}  // namespace vesta
