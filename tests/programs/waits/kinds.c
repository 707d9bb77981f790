// Threads that wait, each for one thing: sleep, a pipe, a mutex, a condition, a socket, epoll, a child, fsync, page
// faults, and two that burn CPU. Each measures around every wait what it took without CPU time of its own, and at the
// end the program prints for each thread: the function that waits, those nanoseconds, the number of waits, and how long
// the thread lived. "-" in place of a number: not possible here.
//
// Usage: kinds SECONDS [FILE], where FILE is written and synced.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kPage = 4096, kFaults = 100000 };

static atomic_int is_over;

static uint64_t now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

// What the calling thread has been off a CPU, as far as it can tell.
static uint64_t off_cpu(void) {
  return now(CLOCK_MONOTONIC) - now(CLOCK_THREAD_CPUTIME_ID);
}

static void pace(long microseconds) {
  struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  while (nanosleep(&time, &time) != 0) {
  }
}

static void check(int is_good, const char* what) {
  if (is_good) return;
  perror(what);
  exit(1);
}

struct thread {
  const char* name;
  void (*wait_once)(void);  // one wait; null: the thread itself counts nothing
  void (*prepare)(void);    // before each, not measured; null: nothing
  void (*partner)(void);    // of a helper that paces it; null: none
  uint64_t off_ns, waits, wall_ns;
  pthread_t id, partner_id;
  uint64_t partner_wall_ns;
  int is_impossible;
};

__attribute__((noinline)) static void sleeping(void) {
  pace(7000);
}

static int pipe_ends[2];
__attribute__((noinline)) static void reading_pipe(void) {
  char byte;
  check(read(pipe_ends[0], &byte, 1) == 1, "read");
}
static void write_pipe(void) {
  pace(3000);
  check(write(pipe_ends[1], "x", 1) == 1, "write");
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int is_held;
__attribute__((noinline)) static void await_holder(void) {
  while (!is_held && !is_over) pace(200);
}
__attribute__((noinline)) static void locking(void) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}
static void hold_mutex(void) {
  pthread_mutex_lock(&mutex);
  is_held = 1;
  pace(60000);
  is_held = 0;
  pthread_mutex_unlock(&mutex);
  pace(1000);
}

static int sockets[2];
__attribute__((noinline)) static void receiving(void) {
  char byte;
  check(recv(sockets[0], &byte, 1, 0) == 1, "recv");
}
static void send_one(void) {
  pace(4000);
  check(send(sockets[1], "x", 1, 0) == 1, "send");
}

static int polled, poller;
__attribute__((noinline)) static void polling(void) {
  struct epoll_event event;
  while (epoll_wait(poller, &event, 1, -1) < 0) check(errno == EINTR, "epoll_wait");
  uint64_t count;
  check(read(polled, &count, sizeof(count)) == sizeof(count), "read");
}
static void signal_event(void) {
  pace(2500);
  const uint64_t one = 1;
  check(write(polled, &one, sizeof(one)) == sizeof(one), "write");
}

__attribute__((noinline)) static void waiting_for_child(void) {
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/sleep", "sleep", "0.03", (char*)0);
    _exit(1);
  }
  check(child > 0, "vfork");
  check(waitpid(child, NULL, 0) == child, "waitpid");
}

static int file = -1;
__attribute__((noinline)) static void syncing(void) {
  static char block[65536];
  check(pwrite(file, block, sizeof(block), 0) == (ssize_t)sizeof(block), "pwrite");
  check(fsync(file) == 0, "fsync");
}

static int faults = -1;
static char* pages;
static size_t next_page;
__attribute__((noinline)) static void faulting(void) {
  *(volatile char*)(pages + (next_page++ % kFaults) * kPage) = 1;
}
static void serve_fault(void) {
  static char content[kPage] __attribute__((aligned(kPage)));
  struct uffd_msg message;
  const ssize_t got = read(faults, &message, sizeof(message));
  if (got != (ssize_t)sizeof(message)) return pace(1000);
  pace(6000);
  struct uffdio_copy copy = {.dst = message.arg.pagefault.address & ~(uint64_t)(kPage - 1),
                             .src = (uintptr_t)content,
                             .len = kPage};
  ioctl(faults, UFFDIO_COPY, &copy);
}
static int open_faults(void) {
  faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
  if (faults < 0) return -1;
  struct uffdio_api api = {.api = UFFD_API};
  pages = mmap(NULL, (size_t)kFaults * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
               -1, 0);
  struct uffdio_register range = {.range = {(uintptr_t)pages, (size_t)kFaults * kPage},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING};
  return ioctl(faults, UFFDIO_API, &api) != 0 || ioctl(faults, UFFDIO_REGISTER, &range) != 0 ? -1
                                                                                             : 0;
}

__attribute__((noinline)) static void burning(void) {
  for (volatile int i = 0; i < 1000000; ++i) {
  }
}

static void* run_waiter(void* argument) {
  struct thread* self = argument;
  pthread_setname_np(pthread_self(), self->name);
  const uint64_t began = now(CLOCK_MONOTONIC);
  while (!is_over) {
    if (self->prepare) self->prepare();
    const uint64_t before = off_cpu();
    self->wait_once();
    self->off_ns += off_cpu() - before;
    ++self->waits;
  }
  self->wall_ns = now(CLOCK_MONOTONIC) - began;
  return NULL;
}

static void* run_partner(void* argument) {
  struct thread* self = argument;
  pthread_setname_np(pthread_self(), "partner");
  const uint64_t began = now(CLOCK_MONOTONIC);
  while (!is_over) self->partner();
  // The other may be in its last wait.
  for (int i = 0; i < 3; ++i) self->partner();
  self->partner_wall_ns = now(CLOCK_MONOTONIC) - began;
  return NULL;
}

int main(int argc, char** argv) {
  check(argc > 1, "usage: kinds SECONDS [FILE]");
  const uint64_t began = now(CLOCK_MONOTONIC);
  struct thread threads[] = {
      {.name = "sleeping", .wait_once = sleeping},
      {.name = "reading_pipe", .wait_once = reading_pipe, .partner = write_pipe},
      {.name = "locking", .wait_once = locking, .prepare = await_holder, .partner = hold_mutex},
      {.name = "receiving", .wait_once = receiving, .partner = send_one},
      {.name = "polling", .wait_once = polling, .partner = signal_event},
      {.name = "waiting_for_chi", .wait_once = waiting_for_child},
      {.name = "syncing", .wait_once = syncing},
      {.name = "faulting", .wait_once = faulting, .partner = serve_fault},
      {.name = "burning", .wait_once = burning},
  };
  const size_t count = sizeof(threads) / sizeof(threads[0]);
  check(pipe(pipe_ends) == 0, "pipe");
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "socketpair");
  polled = eventfd(0, EFD_CLOEXEC);
  poller = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN};
  check(epoll_ctl(poller, EPOLL_CTL_ADD, polled, &event) == 0, "epoll_ctl");
  if (argc > 2) file = open(argv[2], O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  threads[6].is_impossible = file < 0;
  threads[7].is_impossible = open_faults() != 0;
  for (size_t i = 0; i < count; ++i) {
    if (threads[i].is_impossible) continue;
    if (threads[i].partner)
      check(pthread_create(&threads[i].partner_id, NULL, run_partner, &threads[i]) == 0, "thread");
    check(pthread_create(&threads[i].id, NULL, run_waiter, &threads[i]) == 0, "thread");
  }
  pace((long)(atof(argv[1]) * 1e6));
  is_over = 1;
  uint64_t wall = 0;
  for (size_t i = 0; i < count; ++i) {
    if (threads[i].is_impossible) {
      printf("%s - - -\n", threads[i].name);
      continue;
    }
    pthread_join(threads[i].id, NULL);
    if (threads[i].partner) pthread_join(threads[i].partner_id, NULL);
    wall += threads[i].wall_ns + threads[i].partner_wall_ns;
    printf("%s %llu %llu %llu\n", threads[i].name, (unsigned long long)threads[i].off_ns,
           (unsigned long long)threads[i].waits, (unsigned long long)threads[i].wall_ns);
  }
  wall += now(CLOCK_MONOTONIC) - began;
  printf("all %llu %llu %llu\n", (unsigned long long)wall,
         (unsigned long long)now(CLOCK_PROCESS_CPUTIME_ID),
         (unsigned long long)(now(CLOCK_MONOTONIC) - began));
  return 0;
}
