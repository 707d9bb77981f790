// A process that does to its address space what it is told, one command per line of standard input,
// and answers each with one line. First of all it says "ready".
//
//   fork          a child that does nothing until it is killed: its process id
//   dlopen PATH   the address of the function `plugin` in it
//   dlclose       the library opened last
//   map N         N mappings, every second one executable: how many there are
//   exec PATH     that program instead of this one, with the same standard input and output
//   brief         ends after 20 ms
//   where         the address of the function `main`
//
// Ends when its input does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static void* library;

static long make_mappings(long count) {
  const long page = 4096;
  char* memory = mmap(NULL, (size_t)(count * page), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  for (long i = 1; i < count; i += 2) {
    if (mprotect(memory + i * page, (size_t)page, PROT_READ | PROT_EXEC) != 0) return i;
  }
  return count;
}

static void fork_sleeper(void) {
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // The parent may have ended before that. 0: it is outside of our namespace.
    const pid_t above = getppid();
    if (above != parent && above != 0) _exit(0);
    for (;;) pause();
  }
  printf("%d\n", (int)child);
}

int main(int argc, char** argv) {
  char line[4096];
  if (argc > 1 && strcmp(argv[1], "brief") == 0) {
    const struct timespec pause_time = {0, 20 * 1000 * 1000};
    nanosleep(&pause_time, NULL);
    return 0;
  }
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof(line), stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    if (strcmp(line, "fork") == 0) {
      fork_sleeper();
    } else if (strncmp(line, "dlopen ", 7) == 0) {
      library = dlopen(line + 7, RTLD_NOW);
      printf("%p\n", library == NULL ? NULL : dlsym(library, "plugin"));
    } else if (strcmp(line, "dlclose") == 0) {
      printf("%d\n", dlclose(library));
    } else if (strncmp(line, "map ", 4) == 0) {
      printf("%ld\n", make_mappings(atol(line + 4)));
    } else if (strncmp(line, "exec ", 5) == 0) {
      char* const arguments[] = {line + 5, NULL};
      execv(line + 5, arguments);
      puts("failed");
    } else if (strcmp(line, "where") == 0) {
      printf("0x%lx\n", (unsigned long)&main);
    } else {
      puts("what?");
    }
    fflush(stdout);
  }
  return 0;
}
