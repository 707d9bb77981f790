// Two threads that wake each other through pipes as fast as they can, on one CPU: a thread that is woken on another one
// is charged with CPU time from before it runs, from when that CPU took note of it, which is microseconds each time.
// Prints the number of switches, how long it took and the CPU time of the process, in seconds. Usage: pingpong SECONDS
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];
static atomic_ulong rounds;
static double deadline;

static double now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

__attribute__((noinline)) static int pass(int from, int to) {
  char byte;
  if (read(from, &byte, 1) != 1) return 0;
  return write(to, &byte, 1) == 1;
}

static void* ping(void* unused) {
  (void)unused;
  if (write(there[1], "x", 1) != 1) return NULL;
  while (now(CLOCK_MONOTONIC) < deadline && pass(back[0], there[1])) ++rounds;
  close(there[1]);
  return NULL;
}

static void* pong(void* unused) {
  (void)unused;
  while (pass(there[0], back[1])) ++rounds;
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t one, other;
  if (argc < 2 || pipe(there) != 0 || pipe(back) != 0) return 1;
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET((size_t)sched_getcpu(), &here);
  if (sched_setaffinity(0, sizeof(here), &here) != 0) return 1;
  const double began = now(CLOCK_MONOTONIC);
  deadline = began + atof(argv[1]);
  if (pthread_create(&one, NULL, ping, NULL) != 0 || pthread_create(&other, NULL, pong, NULL) != 0)
    return 1;
  pthread_join(one, NULL);
  pthread_join(other, NULL);
  printf("%lu %f %f\n", rounds, now(CLOCK_MONOTONIC) - began, now(CLOCK_PROCESS_CPUTIME_ID));
  return 0;
}
