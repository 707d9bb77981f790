// Does a fixed amount of work in several threads and prints what came out, which depends on nothing
// but the work. Usage: steady ROUNDS
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 3 };
static long rounds;

static void* work(void* argument) {
  uint64_t x = (uint64_t)(uintptr_t)argument + 1;
  for (long round = 0; round < rounds; ++round) {
    for (int i = 0; i < 100000; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  }
  return (void*)(uintptr_t)x;
}

int main(int argc, char** argv) {
  rounds = argc > 1 ? atol(argv[1]) : 1000;
  pthread_t threads[kThreads];
  for (uintptr_t i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], NULL, work, (void*)i) != 0) return 1;
    char name[16];
    snprintf(name, sizeof(name), "worker-%d", (int)i);
    pthread_setname_np(threads[i], name);
  }
  for (int i = 0; i < kThreads; ++i) {
    void* result = NULL;
    pthread_join(threads[i], &result);
    printf("%016llx\n", (unsigned long long)(uintptr_t)result);
  }
  return 0;
}
