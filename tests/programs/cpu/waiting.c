// Threads that wait, each in a function of its own below two callers of its own, and one that runs:
// what `vesta dump` must show. Says "ready" when all of them are on their way, ends when its input
// does. Built with -fomit-frame-pointer: stacks can only be walked by tables.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cond_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int silent[2];

// Something to do after the call, so that it is no tail call and its frame stays.
#define KEEP_FRAME() __asm__ volatile("" ::: "memory")
#define WAITER(NAME, ...)                                        \
  static __attribute__((noinline)) void wait_in_##NAME(void) {   \
    __VA_ARGS__;                                                 \
    KEEP_FRAME();                                                \
  }                                                              \
  static __attribute__((noinline)) void call_##NAME(int depth) { \
    volatile char frame[64];                                     \
    frame[0] = (char)depth;                                      \
    wait_in_##NAME();                                            \
    frame[1] = frame[0];                                         \
    KEEP_FRAME();                                                \
  }                                                              \
  static void* run_##NAME(void* unused) {                        \
    (void)unused;                                                \
    pthread_setname_np(pthread_self(), "in-" #NAME);             \
    while (1) call_##NAME(1);                                    \
    return NULL;                                                 \
  }

WAITER(mutex, pthread_mutex_lock(&held))
WAITER(sleep, {
  struct timespec long_time = {100000, 0};
  nanosleep(&long_time, NULL);
})
WAITER(read, {
  char byte;
  if (read(silent[0], &byte, 1) < 0) abort();
})
WAITER(poll, {
  struct pollfd one = {silent[0], POLLIN, 0};
  poll(&one, 1, -1);
})
WAITER(cond, {
  pthread_mutex_lock(&cond_lock);
  pthread_cond_wait(&never, &cond_lock);
  pthread_mutex_unlock(&cond_lock);
})
WAITER(spin, {
  for (volatile unsigned i = 0; i < 4000000000U; ++i) {
  }
})

static __attribute__((noinline)) void wait_deep(int depth, int fd) {
  volatile char frame[2048];
  frame[0] = (char)depth;
  char byte;
  if (depth > 0) {
    wait_deep(depth - 1, fd);
  } else if (read(fd, &byte, 1) < 0) {
    abort();
  }
  frame[1] = frame[0];
}
static void* run_deep(void* unused) {
  (void)unused;
  pthread_setname_np(pthread_self(), "in-deep");
  wait_deep(200, silent[0]);  // 400 KiB of stack
  return NULL;
}

int main(void) {
  void* (*const runs[])(void*) = {run_mutex, run_sleep, run_read, run_poll,
                                  run_cond,  run_spin,  run_deep};
  if (pipe(silent) != 0) return 1;
  pthread_mutex_lock(&held);
  for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, runs[i], NULL) != 0) return 1;
  }
  if (write(1, "ready\n", 6) != 6) return 1;
  char byte;
  while (read(0, &byte, 1) == 1) {
  }
  return 0;
}
