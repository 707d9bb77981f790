// Threads that wait in futex(2), each for something else: locks of several kinds, and what is no lock. A partner holds
// each lock for 20 ms, or lets its thread wait for an event for as long. Prints for each thread the function that waits
// and the nanoseconds that it was off a CPU there. Usage: locks SECONDS
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static atomic_int is_over;

static uint64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t off_cpu(void) {
  return now(CLOCK_MONOTONIC) - now(CLOCK_THREAD_CPUTIME_ID);
}

static void pace(long microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  while (nanosleep(&time, &time) != 0) {
  }
}

enum { kHoldUs = 20000, kPauseUs = 2000 };

// A partner that has a lock says so, and its thread asks for the lock only then.
#define LOCK(name, take, give)                                 \
  static atomic_int name##_is_held;                            \
  static void prepare_##name(void) {                           \
    while (!name##_is_held && !is_over) pace(200);             \
  }                                                            \
  __attribute__((noinline)) static void waiting_##name(void) { \
    take;                                                      \
    give;                                                      \
  }                                                            \
  static void partner_##name(void) {                           \
    take;                                                      \
    name##_is_held = 1;                                        \
    pace(kHoldUs);                                             \
    name##_is_held = 0;                                        \
    give;                                                      \
    pace(kPauseUs);                                            \
  }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, pi_mutex, robust_mutex;
static pthread_rwlock_t reading = PTHREAD_RWLOCK_INITIALIZER, writing = PTHREAD_RWLOCK_INITIALIZER;
LOCK(mutex, pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
LOCK(pi_mutex, pthread_mutex_lock(&pi_mutex), pthread_mutex_unlock(&pi_mutex))
LOCK(robust_mutex, pthread_mutex_lock(&robust_mutex), pthread_mutex_unlock(&robust_mutex))
LOCK(writer, pthread_rwlock_wrlock(&writing), pthread_rwlock_unlock(&writing))

static atomic_int reading_is_held;
static void prepare_reader(void) {
  while (!reading_is_held && !is_over) pace(200);
}
__attribute__((noinline)) static void waiting_reader(void) {
  pthread_rwlock_rdlock(&reading);
  pthread_rwlock_unlock(&reading);
}
static void partner_reader(void) {
  pthread_rwlock_wrlock(&reading);
  reading_is_held = 1;
  pace(kHoldUs);
  reading_is_held = 0;
  pthread_rwlock_unlock(&reading);
  pace(kPauseUs);
}

static long futex(atomic_int* word, int operation, unsigned value) {
  return syscall(SYS_futex, word, operation, value, NULL, NULL, ~0u);
}

// As the mutex of Rust's standard library: 0 free, 1 locked, 2 somebody waits.
static atomic_int rust_word;
static void rust_lock(void) {
  int expected = 0;
  if (atomic_compare_exchange_strong(&rust_word, &expected, 1)) return;
  while (atomic_exchange(&rust_word, 2) != 0)
    futex(&rust_word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 2);
}
static void rust_unlock(void) {
  if (atomic_exchange(&rust_word, 0) == 2) futex(&rust_word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}
LOCK(rust_mutex, rust_lock(), rust_unlock())

static pthread_mutex_t condition_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int events;
__attribute__((noinline)) static void waiting_condition(void) {
  pthread_mutex_lock(&condition_mutex);
  while (events == 0) pthread_cond_wait(&condition, &condition_mutex);
  --events;
  pthread_mutex_unlock(&condition_mutex);
}
static void partner_condition(void) {
  pace(kHoldUs);
  pthread_mutex_lock(&condition_mutex);
  ++events;
  pthread_mutex_unlock(&condition_mutex);
  pthread_cond_signal(&condition);
}

static sem_t semaphore;
__attribute__((noinline)) static void waiting_semaphore(void) {
  while (sem_wait(&semaphore) != 0) {
  }
}
static void partner_semaphore(void) {
  pace(kHoldUs);
  sem_post(&semaphore);
}

// As a thread of Rust parks: -1 parked, 0 not, 1 somebody was here.
static atomic_int parking_word;
__attribute__((noinline)) static void waiting_parked(void) {
  if (atomic_fetch_sub(&parking_word, 1) == 1) return;
  while (1) {
    futex(&parking_word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, ~0u);
    int expected = 1;
    if (atomic_compare_exchange_strong(&parking_word, &expected, 0)) return;
  }
}
static void partner_parked(void) {
  pace(kHoldUs);
  if (atomic_exchange(&parking_word, 1) == -1)
    futex(&parking_word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

static void* sleep_a_while(void* unused) {
  pace(kHoldUs);
  return unused;
}
__attribute__((noinline)) static void waiting_join(void) {
  pthread_t id;
  if (pthread_create(&id, NULL, sleep_a_while, NULL) == 0) pthread_join(id, NULL);
}

struct thread {
  const char* name;
  void (*wait_once)(void);
  void (*prepare)(void);
  void (*partner)(void);
  uint64_t off_ns;
  pthread_t id, partner_id;
};

static void* run_waiter(void* argument) {
  struct thread* self = argument;
  while (!is_over) {
    if (self->prepare) self->prepare();
    const uint64_t before = off_cpu();
    self->wait_once();
    self->off_ns += off_cpu() - before;
  }
  return NULL;
}

static void* run_partner(void* argument) {
  struct thread* self = argument;
  while (!is_over) self->partner();
  // The other may be in its last wait.
  for (int i = 0; i < 2; ++i) self->partner();
  return NULL;
}

static void init_mutex(pthread_mutex_t* made, int protocol, int robust) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, protocol);
  pthread_mutexattr_setrobust(&attributes, robust);
  pthread_mutex_init(made, &attributes);
}

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  init_mutex(&pi_mutex, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
  init_mutex(&robust_mutex, PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
  sem_init(&semaphore, 0, 0);
#define THREAD(name, prepare, partner) \
  { "waiting_" #name, waiting_##name, prepare, partner, 0, 0, 0 }
  struct thread threads[] = {
      THREAD(mutex, prepare_mutex, partner_mutex),
      THREAD(pi_mutex, prepare_pi_mutex, partner_pi_mutex),
      THREAD(robust_mutex, prepare_robust_mutex, partner_robust_mutex),
      THREAD(writer, prepare_writer, partner_writer),
      THREAD(reader, prepare_reader, partner_reader),
      THREAD(rust_mutex, prepare_rust_mutex, partner_rust_mutex),
      THREAD(condition, NULL, partner_condition),
      THREAD(semaphore, NULL, partner_semaphore),
      THREAD(parked, NULL, partner_parked),
      THREAD(join, NULL, NULL),
  };
  const size_t count = sizeof(threads) / sizeof(threads[0]);
  for (size_t i = 0; i < count; ++i) {
    if (threads[i].partner &&
        pthread_create(&threads[i].partner_id, NULL, run_partner, &threads[i]) != 0)
      return 1;
    if (pthread_create(&threads[i].id, NULL, run_waiter, &threads[i]) != 0) return 1;
  }
  pace((long)(atof(argv[1]) * 1e6));
  is_over = 1;
  for (size_t i = 0; i < count; ++i) {
    pthread_join(threads[i].id, NULL);
    if (threads[i].partner) pthread_join(threads[i].partner_id, NULL);
    printf("%s %llu\n", threads[i].name, (unsigned long long)threads[i].off_ns);
  }
  return 0;
}
