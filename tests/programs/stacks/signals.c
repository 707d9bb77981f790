// All time is spent in the handler of a signal that hits code of its own. Runs until it is killed.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned sum;

__attribute__((noinline)) static void on_signal(int number) {
  for (int i = 0; i < 1000000; ++i) sum = sum * 1103515245 + (unsigned)number;
}

__attribute__((noinline)) static void raise_signals(void) {
  while (1) kill(getpid(), SIGUSR1);
}

int main(void) {
  struct sigaction action = {.sa_handler = on_signal};
  if (sigaction(SIGUSR1, &action, NULL) != 0) return 1;
  raise_signals();
}
