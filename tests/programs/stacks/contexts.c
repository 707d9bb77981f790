// Coroutines of makecontext() and swapcontext(), in which all time is spent. Runs until it is
// killed.
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t main_context, coroutine;

__attribute__((noinline)) static unsigned burn(unsigned seed) {
  for (int i = 0; i < 1000000; ++i) seed = seed * 1103515245 + 12345;
  return seed;
}

static void body(void) {
  volatile unsigned sum = 1;
  while (1) {
    sum = burn(sum);
    swapcontext(&coroutine, &main_context);
  }
}

int main(void) {
  enum { kStack = 1 << 16 };
  if (getcontext(&coroutine) != 0) return 1;
  coroutine.uc_stack.ss_sp = malloc(kStack);
  coroutine.uc_stack.ss_size = kStack;
  coroutine.uc_link = &main_context;
  makecontext(&coroutine, body, 0);
  while (1) swapcontext(&main_context, &coroutine);
}
