// Busy in its C library: in leaves (strlen, memcpy) and in what has deep frames of its own (qsort
// with a call-back, snprintf, malloc, regcomp), in the first thread and in a second one. Runs until
// it is killed.
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char text[1 << 16];

__attribute__((noinline)) static int by_last_digit(const void* a, const void* b) {
  return *(const int*)a % 10 - *(const int*)b % 10;
}

__attribute__((noinline)) static size_t use_strings(void) {
  static char copy[sizeof(text)];
  memcpy(copy, text, sizeof(text));
  return strlen(copy) + (size_t)(strstr(copy, "needle") != NULL) + (size_t)strcmp(copy, text);
}

__attribute__((noinline)) static size_t use_sorting(void) {
  int numbers[512];
  for (int i = 0; i < 512; ++i) numbers[i] = i * 7919 % 512;
  qsort(numbers, 512, sizeof(int), by_last_digit);
  return (size_t)numbers[0];
}

__attribute__((noinline)) static size_t use_printing(void) {
  char line[128];
  size_t sum = 0;
  for (int i = 0; i < 50; ++i)
    sum += (size_t)snprintf(line, sizeof(line), "%d %s %g %08x\n", i, "words", i / 3.0, i);
  return sum;
}

__attribute__((noinline)) static size_t use_memory(void) {
  void* blocks[64];
  for (int i = 0; i < 64; ++i) blocks[i] = calloc((size_t)i + 1, 24);
  for (int i = 0; i < 64; ++i) free(blocks[i]);
  return 64;
}

__attribute__((noinline)) static size_t use_expressions(void) {
  regex_t expression;
  if (regcomp(&expression, "([a-z]+)-([0-9]+)", REG_EXTENDED) != 0) abort();
  regmatch_t matches[3];
  const size_t found = (size_t)regexec(&expression, "words and-42 more", 3, matches, 0);
  regfree(&expression);
  return found;
}

__attribute__((noinline)) static size_t turn(void) {
  return use_strings() + use_sorting() + use_printing() + use_memory() + use_expressions();
}

__attribute__((noinline)) static void* run(void* unused) {
  volatile size_t sum = 0;
  while (1) sum += turn();
  return unused;
}

int main(void) {
  memset(text, 'x', sizeof(text) - 1);
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, NULL) != 0) return 1;
  run(NULL);
}
