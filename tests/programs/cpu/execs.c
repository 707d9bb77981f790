// Burns a little CPU and becomes itself again, ROUNDS times: a process whose mappings never stay.
// Usage: execs ROUNDS
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((noinline, noclone)) static uint64_t between_execs(uint64_t x) {
  for (int i = 0; i < 1000000; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  __asm__ volatile("" : "+r"(x));
  return x;
}

int main(int argc, char** argv) {
  long rounds = argc > 1 ? atol(argv[1]) : 0;
  uint64_t x = between_execs(1);
  if (rounds <= 0) return x == 0;
  char text[32];
  snprintf(text, sizeof(text), "%ld", rounds - 1);
  execl("/proc/self/exe", argv[0], text, (char*)NULL);
  return 1;
}
