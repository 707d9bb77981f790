// Burns about 50 ms of CPU and ends. Built several times, with another FLAVOUR each, into different
// files.
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define PASTE(a, b) a##b
#define NAME(a, b) PASTE(a, b)

static int compare(const void* a, const void* b) {
  return *(const int*)a < *(const int*)b ? -1 : *(const int*)a > *(const int*)b;
}

NOINLINE static unsigned NAME(sort_, FLAVOUR)(unsigned x) {
  static int numbers[2000];
  for (int i = 0; i < 2000; ++i) numbers[i] = (int)((x = x * 1664525 + 1013904223) >> 8);
  qsort(numbers, 2000, sizeof(int), compare);
  return x + (unsigned)numbers[0];
}

NOINLINE static unsigned NAME(spin_, FLAVOUR)(unsigned x) {
  for (int i = 0; i < 100000; ++i) x = x * 1664525 + 1013904223;
  __asm__ volatile("" : "+r"(x));
  return x;
}

static int64_t cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(void) {
  unsigned x = 1;
  while (cpu_ns() < 50000000) x = NAME(spin_, FLAVOUR)(NAME(sort_, FLAVOUR)(x));
  return x == 0;
}
