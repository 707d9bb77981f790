// Threads that hold one mutex in turn, each for a time of its own, and know who made them wait: whoever has the mutex
// writes into it who it is and when it gives it back. With priority inheritance the kernel hands the mutex over, so
// that nobody can come between. Prints for each thread the nanoseconds that others waited until it released the mutex,
// and how many such waits there were. Usage: contend THREADS SECONDS [plain]
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kMost = 16 };

static atomic_int is_over;
static int count;
static pthread_mutex_t mutex;
// Under the mutex.
static int holder = -1;
static uint64_t released_ns;

static struct thread {
  pthread_t id;
  // By who released the mutex.
  uint64_t delay_ns[kMost], waits[kMost];
} threads[kMost];

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void pace(long microseconds) {
  struct timespec time = {0, microseconds * 1000};
  while (nanosleep(&time, &time) != 0) {
  }
}

#define RELEASE(k)                                          \
  __attribute__((noinline)) static void release_##k(void) { \
    pthread_mutex_unlock(&mutex);                           \
    __asm__ volatile("" ::: "memory");                      \
  }
// clang-format off
RELEASE(0) RELEASE(1) RELEASE(2) RELEASE(3) RELEASE(4) RELEASE(5) RELEASE(6) RELEASE(7)
RELEASE(8) RELEASE(9) RELEASE(10) RELEASE(11) RELEASE(12) RELEASE(13) RELEASE(14) RELEASE(15)
    // clang-format on

    static void (*const releases[kMost])(void) = {release_0,  release_1,  release_2,  release_3,
                                                  release_4,  release_5,  release_6,  release_7,
                                                  release_8,  release_9,  release_10, release_11,
                                                  release_12, release_13, release_14, release_15};

__attribute__((noinline)) static void contend(void) {
  pthread_mutex_lock(&mutex);
  __asm__ volatile("" ::: "memory");
}

static void* run(void* argument) {
  const int self = (int)(intptr_t)argument;
  char name[16];
  snprintf(name, sizeof(name), "holder-%d", self);
  pthread_setname_np(pthread_self(), name);
  while (!is_over) {
    const uint64_t began = now();
    contend();
    if (released_ns > began) {
      threads[self].delay_ns[holder] += released_ns - began;
      ++threads[self].waits[holder];
    }
    // So long that every wait is sampled from the first second on, and sums of each thread are exact; of many threads
    // shorter, since each waits for all others, and waits of half a second and more are told in parts.
    pace((12000 + self * 300) / (count > 4 ? 3 : 1));
    holder = self;
    released_ns = now();
    releases[self]();
    pace(300);
  }
  return NULL;
}

int main(int argc, char** argv) {
  count = argc > 2 ? atoi(argv[1]) : 0;
  if (count < 1 || count > kMost) return 1;
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if (argc < 4) pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&mutex, &attributes);
  for (intptr_t i = 0; i < count; ++i) {
    if (pthread_create(&threads[i].id, NULL, run, (void*)i) != 0) return 1;
  }
  const double seconds = atof(argv[2]);
  struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&time, NULL);
  is_over = 1;
  for (int i = 0; i < count; ++i) pthread_join(threads[i].id, NULL);
  for (int i = 0; i < count; ++i) {
    uint64_t delay = 0, waits = 0;
    for (int j = 0; j < count; ++j) {
      delay += threads[j].delay_ns[i];
      waits += threads[j].waits[i];
    }
    printf("release_%d %llu %llu\n", i, (unsigned long long)delay, (unsigned long long)waits);
  }
  return 0;
}
