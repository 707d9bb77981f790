// Threads that have nothing to do, and threads that wait for each other: four workers that are parked in a condition
// variable, a loop in epoll, and four threads that take one mutex in turn and hold it for 20 ms.
//
// Usage: idle SECONDS
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { kThreads = 4 };

static atomic_int is_over;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static int wake;

static void pace(long microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  while (nanosleep(&time, &time) != 0) {
  }
}

__attribute__((noinline)) static void* parked_worker(void* unused) {
  pthread_mutex_lock(&queue_lock);
  while (!is_over) pthread_cond_wait(&has_work, &queue_lock);
  pthread_mutex_unlock(&queue_lock);
  return unused;
}

__attribute__((noinline)) static void* event_loop(void* unused) {
  const int poller = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(poller, EPOLL_CTL_ADD, wake, &event);
  while (!is_over) epoll_wait(poller, &event, 1, -1);
  return unused;
}

__attribute__((noinline)) static void use_lock(void) {
  pthread_mutex_lock(&contended);
  pace(20000);
  pthread_mutex_unlock(&contended);
}

__attribute__((noinline)) static void* contender(void* unused) {
  while (!is_over) use_lock();
  return unused;
}

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  pthread_t threads[2 * kThreads + 1];
  wake = eventfd(0, EFD_CLOEXEC);
  for (int i = 0; i < kThreads; ++i) {
    pthread_create(&threads[2 * i], NULL, parked_worker, NULL);
    pthread_create(&threads[2 * i + 1], NULL, contender, NULL);
  }
  pthread_create(&threads[2 * kThreads], NULL, event_loop, NULL);
  pace((long)(atof(argv[1]) * 1e6));
  is_over = 1;
  pthread_mutex_lock(&queue_lock);
  pthread_cond_broadcast(&has_work);
  pthread_mutex_unlock(&queue_lock);
  const unsigned long one = 1;
  if (write(wake, &one, sizeof(one)) != sizeof(one)) return 1;
  for (int i = 0; i < 2 * kThreads + 1; ++i) pthread_join(threads[i], NULL);
  return 0;
}
