// Children one after the other, without a pause, each of which sleeps 2 ms and tells how long it was off a CPU. Prints
// the sum in seconds, and their number. Usage: forks COUNT
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

__attribute__((noinline)) static void child_sleeps(void) {
  const struct timespec time = {0, 2000000};
  nanosleep(&time, NULL);
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 0;
  uint64_t* sum =
      mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const uint64_t began = now(CLOCK_MONOTONIC) - now(CLOCK_THREAD_CPUTIME_ID);
      child_sleeps();
      *sum += now(CLOCK_MONOTONIC) - now(CLOCK_THREAD_CPUTIME_ID) - began;
      _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child) return 1;
  }
  printf("%f %d\n", (double)*sum / 1e9, count);
  return 0;
}
