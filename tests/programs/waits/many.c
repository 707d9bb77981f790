// Many threads that wait in one function until the program ends, in the middle of their wait. Prints "ready" when all are
// there.
//
// Usage: many THREADS SECONDS
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_int waiting;

static void pace(double seconds) {
  struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  while (nanosleep(&time, &time) != 0) {
  }
}

__attribute__((noinline)) static void* sleeps(void* unused) {
  ++waiting;
  pause();
  return unused;
}

int main(int argc, char** argv) {
  if (argc != 3) return 1;
  const int count = atoi(argv[1]);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, &small, sleeps, NULL) != 0) {
      printf("only %d\n", i);
      return 2;
    }
  }
  while (waiting < count) pace(0.01);
  printf("ready\n");
  fflush(stdout);
  pace(atof(argv[2]));
  // The others end in the middle of their wait.
  _exit(0);
}
